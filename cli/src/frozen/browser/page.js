// Reads a page for the tests of pages: `checks.rs`.
(() => {
    // What its script adds to a page stands in `.tools`; everything else is there without JavaScript too.
    const CODE = "script, style, noscript";
    const TREE = "details.data";
    const texts = without => {
        const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
        const found = [];
        while (walker.nextNode()) {
            const node = walker.currentNode;
            if (!node.parentElement.closest(without)) found.push(node.data);
        }
        return found.join(" ");
    };
    return {
        // All text, folded or not.
        all: () => texts(CODE),
        // The same without what the page's script adds.
        plain: () => texts(`${CODE}, .tools`),
        // What a person sees outside of the folded data when everything else is unfolded.
        seen: () => {
            document.querySelectorAll("details").forEach(one => (one.open = !one.closest(TREE)));
            return document.body.innerText;
        },
        unfold: () => document.querySelectorAll("details").forEach(one => (one.open = true)),
        // What sticks out of the window, if the page scrolls sideways.
        wide: () => {
            const root = document.documentElement;
            if (root.scrollWidth <= innerWidth) return "";
            const isFree = one => {
                for (let at = one.parentElement; at; at = at.parentElement)
                    if (["auto", "scroll", "hidden"].includes(getComputedStyle(at).overflowX)) return false;
                return true;
            };
            const all = [...document.body.querySelectorAll("*")].filter(isFree);
            const wide = all.filter(one => one.getBoundingClientRect().right > innerWidth + 1).slice(0, 5);
            const named = wide.map(one => `${one.localName}.${one.getAttribute("class")} ${one.textContent.trim().slice(0, 40)}`);
            return `${root.scrollWidth} pixels wide at ${innerWidth}: ${named.join("; ")}`;
        },
        violations: async rules => {
            const options = rules.length ? { runOnly: { type: "rule", values: rules } } : {};
            // Selectors of all elements take most of the time, and nothing has to be loaded.
            const quickly = { selectors: false, preload: false, iframes: false, resultTypes: ["violations"] };
            const { violations } = await axe.run(document, { ...options, ...quickly });
            const at = one => one.nodes.slice(0, 3).map(node => node.html.slice(0, 160));
            return violations.map(one => `${one.id} (${one.impact}) at ${at(one).join("; ")}`);
        },
        // Uses every control once, with this text in each field.
        use: text => {
            document.querySelectorAll("button, summary").forEach(one => one.click());
            for (const box of document.querySelectorAll("input, textarea, select")) {
                box.value = text;
                box.dispatchEvent(new Event("input", { bubbles: true }));
                box.dispatchEvent(new Event("change", { bubbles: true }));
            }
            return "";
        },
        // How many elements of each name there are: text that is read as markup adds to them.
        elements: () => {
            const counts = {};
            document.querySelectorAll("*").forEach(({ localName }) => (counts[localName] = (counts[localName] ?? 0) + 1));
            return counts;
        },
        // Attributes that run code, load something from elsewhere, or lead away.
        dangers: () => {
            const LOADS = ["href", "src", "srcset", "action", "formaction", "xlink:href", "data", "poster", "background", "ping"];
            const OWN = /^(#[^\s]*|(?!\/\/)[\w.\/%+-]+(#[^\s]*)?|data:,)$/;
            const isDanger = ({ name, value }) =>
                name.startsWith("on") || ["style", "srcdoc"].includes(name) || (LOADS.includes(name) && !OWN.test(value));
            const all = [...document.querySelectorAll("*")].flatMap(one => [...one.attributes].filter(isDanger)
                .map(({ name, value }) => `${one.localName} ${name}=${value.slice(0, 80)}`));
            return all.slice(0, 5).join("; ");
        },
        // The rows of the costs by role, and whether the verdict looks bad.
        costs: () => [...document.getElementById("cost").closest("section").querySelectorAll("tbody tr")].map(row => row.innerText),
        isBad: () => document.querySelector(".hero.bad, .hero .bad") !== null,
        // The visible text of the section of a heading, and what its folds show after one click.
        answers: id => {
            const place = document.getElementById(id)?.closest("section");
            if (!place) return null;
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
