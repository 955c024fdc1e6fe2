// Writes the npm packages as folders: node generate.mjs OUT SHARE [TARGET=BINARY]...
//
// All of them get a package.json, from which npm knows what to install where; those with a binary are whole. What the
// manifests say of skilltune comes from Cargo.toml, as cargo reads it from standard input (`cargo metadata`).
import fs from "node:fs";
import path from "node:path";

const here = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);
const root = path.join(here, "../..");
const [out, share, ...binaries] = process.argv.slice(2);
const { packages } = JSON.parse(fs.readFileSync(0, "utf8"));
const { version, description, license, repository } = packages.find(({ name }) => name === "skilltune");
const platforms = JSON.parse(fs.readFileSync(path.join(here, "platforms.json"), "utf8"));
const common = { version, description, license, repository: { type: "git", url: `git+${repository}.git` } };

function write(manifest, files) {
  const folder = path.join(out, manifest.name);
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  for (const [to, from] of Object.entries({ ...files, "LICENSE-APACHE": "LICENSE-APACHE", "LICENSE-MIT": "LICENSE-MIT" })) {
    fs.cpSync(path.resolve(root, from), path.join(folder, to), { recursive: true });
  }
}

for (const [target, { name, os, cpu, libc }] of Object.entries(platforms)) {
  const binary = binaries.find((one) => one.startsWith(`${target}=`))?.slice(target.length + 1);
  const fits = { os: [os], cpu: [cpu], ...(libc && { libc: [libc] }) };
  const files = binary ? { "bin/skilltune": binary } : {};
  write({ name, ...common, description: `The program of skilltune for ${target}.`, ...fits, preferUnplugged: true }, files);
}
const names = Object.values(platforms).map(({ name }) => [name, version]);
write(
  {
    name: "skilltune",
    ...common,
    keywords: ["agents", "skills", "evals"],
    engines: { node: ">=18" },
    bin: { skilltune: "bin/skilltune.js" },
    man: fs.readdirSync(path.join(share, "man/man1")).map((page) => `./share/man/man1/${page}`),
    optionalDependencies: Object.fromEntries(names),
  },
  { "bin/skilltune.js": path.join(here, "bin/skilltune.js"), share: path.resolve(share), "README.md": "README.md" },
);
