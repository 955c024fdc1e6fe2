// Writes what a registry of npm says of the packages, as files for a server: node registry.mjs PACKAGES TARBALLS OUT ADDRESS
//
// A platform without a tarball is listed as well: npm must not ask for it.
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";

const [packages, tarballs, out, address] = process.argv.slice(2);
for (const found of fs.readdirSync(packages, { recursive: true })) {
  if (path.basename(found) !== "package.json") continue;
  const manifest = JSON.parse(fs.readFileSync(path.join(packages, found), "utf8"));
  const file = `${manifest.name.replace("@", "").replace("/", "-")}-${manifest.version}.tgz`;
  const from = path.join(tarballs, file);
  const dist = { tarball: `${address}/tarballs/${file}` };
  if (fs.existsSync(from)) dist.integrity = `sha512-${createHash("sha512").update(fs.readFileSync(from)).digest("base64")}`;
  const answer = {
    name: manifest.name,
    "dist-tags": { latest: manifest.version },
    versions: { [manifest.version]: { ...manifest, dist } },
  };
  fs.mkdirSync(path.dirname(path.join(out, manifest.name)), { recursive: true });
  fs.writeFileSync(path.join(out, manifest.name), JSON.stringify(answer));
}
