// What tests read of a page: `checks.rs`.
(() => {
    // Neither code nor controls are text: a page without JavaScript has no controls.
    const CODE = "script, style, noscript";
    const CONTROLS = "button, input, select, label, textarea, datalist";
    const TREE = ".tree";
    const texts = without => {
        const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
        const found = [];
        while (walker.nextNode()) {
            const node = walker.currentNode;
            if (!node.parentElement.closest(without)) found.push(node.data);
        }
        return found.join(" ");
    };
    const section = id => document.getElementById(id)?.closest("section, details, article, main > *") ?? null;
    return {
        // All text, folded or not.
        all: () => texts(CODE),
        plain: () => texts(`${CODE}, ${CONTROLS}`),
        // The text that a person sees outside of the folded data when everything else is unfolded.
        seen: () => {
            document.querySelectorAll("details").forEach(one => (one.open = !one.matches(TREE) && !one.closest(TREE)));
            return document.body.innerText;
        },
        unfold: () => document.querySelectorAll("details").forEach(one => (one.open = true)),
        // What sticks out of the window, if it scrolls sideways.
        wide: () => {
            const root = document.documentElement;
            if (root.scrollWidth <= innerWidth) return "";
            const isWide = one => one.getBoundingClientRect().right > innerWidth + 1;
            const wide = [...document.body.querySelectorAll("*")].filter(isWide).slice(0, 5);
            const named = wide.map(one => `${one.tagName}.${one.getAttribute("class")} ${one.textContent.trim().slice(0, 40)}`);
            return `${root.scrollWidth} pixels at ${innerWidth}: ${named.join("; ")}`;
        },
        violations: async rules => {
            const options = rules.length ? { runOnly: { type: "rule", values: rules } } : {};
            const { violations } = await axe.run(document, { ...options, resultTypes: ["violations"] });
            const at = one => one.nodes.slice(0, 3).map(node => `${node.target.join(" ")}: ${node.html.slice(0, 120)}`);
            return violations.map(one => `${one.id} (${one.impact}) at ${at(one).join("; ")}`);
        },
        // The links of a page to others.
        links: () => [...document.querySelectorAll("a[href]")].map(one => one.getAttribute("href")),
        // The elements by their names: text that is read as markup adds to them.
        elements: () => {
            const counts = {};
            for (const one of document.querySelectorAll("*")) {
                const name = one.localName;
                counts[name] = (counts[name] ?? 0) + 1;
            }
            return counts;
        },
        // Attributes that run code or load something.
        dangers: () => {
            const isDanger = ({ name, value }) =>
                name.startsWith("on") || name === "style" || name === "srcdoc" || name === "background" ||
                (["href", "src", "action", "formaction", "xlink:href", "data", "poster"].includes(name) &&
                    !/^(#[\w.-]*|[\w./-]+(#[\w.-]*)?|data:,)$/.test(value));
            const all = [...document.querySelectorAll("*")].flatMap(one => [...one.attributes].filter(isDanger)
                .map(attribute => `${one.localName} ${attribute.name}=${attribute.value.slice(0, 80)}`));
            return all;
        },
        // The visible text of a section, and then what each one fold in it shows besides.
        answers: id => {
            const place = section(id);
            if (!place) return null;
            document.querySelectorAll("details").forEach(one => (one.open = one.hasAttribute("data-was-open")));
            const first = place.innerText;
            const folds = [...place.querySelectorAll("details:not([open])")]
                .filter(one => !one.parentElement.closest("details:not([open])"));
            const after = folds.map(one => {
                one.open = true;
                const text = one.innerText;
                one.open = false;
                return text;
            });
            return [first, after.join("\n")];
        },
    };
})()
