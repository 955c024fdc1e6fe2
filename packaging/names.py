"""Compares the names, addresses and hashes that the packages carry with what dist plans: names.py PLAN DISTRIB."""

import hashlib
import json
import pathlib
import re
import sys
import tomllib

plan, out = json.loads(pathlib.Path(sys.argv[1]).read_text()), pathlib.Path(sys.argv[2])
cargo = tomllib.loads(pathlib.Path("Cargo.toml").read_text())["workspace"]["package"]
binstall = tomllib.loads(pathlib.Path("cli/Cargo.toml").read_text())["package"]["metadata"]["binstall"]
platforms = json.loads(pathlib.Path("packaging/npm/platforms.json").read_text())

archives = {
    artifact["target_triples"][0]: artifact for artifact in plan["artifacts"].values() if artifact["kind"] == "executable-zip"
}
hosting = plan["releases"][0]["hosting"]["github"]
base = hosting["artifact_base_url"] + hosting["artifact_download_path"]


def expand(template, target):
    values = {"repo": cargo["repository"], "version": cargo["version"], "name": "skilltune", "target": target, "bin": "skilltune"}
    return re.sub(r"\{ ([a-z-]+) \}", lambda word: values.get(word[1], ""), template)


assert platforms.keys() == archives.keys(), "packaging/npm/platforms.json has other platforms than dist"
for target, artifact in archives.items():
    address = f"{base}/{artifact['name']}"
    assert expand(binstall["pkg-url"], target) == address, f"binstall does not find {address}"
    programs = [asset["name"] for asset in artifact["assets"] if asset["kind"] == "executable"]
    assert programs == ["skilltune"], f"{target} has the programs {programs}"

formula, installer = ((out / name).read_text() for name in ("skilltune.rb", "skilltune-installer.sh"))
addresses = dict(re.findall(r'url "([^"]+)"(?:\s+sha256 "([0-9a-f]+)")?', formula))
assert set(addresses) < {f"{base}/{artifact['name']}" for artifact in archives.values()} and addresses, addresses
for archive in out.glob("skilltune-*.tar.gz"):
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    target = archive.name.removeprefix("skilltune-").removesuffix(".tar.gz")
    assert f'_checksum_value="{found}"' in installer, f"the installer has another hash of {archive.name}"
    if not target.endswith("musl"):
        assert addresses[f"{base}/{archive.name}"] == found, f"the formula has another hash of {archive.name}"
    print(f"ok: {archive.name} {found[:16]}... in the formula and the installer")
print(f"ok: {len(archives)} platforms have the same names in dist, npm and binstall")
