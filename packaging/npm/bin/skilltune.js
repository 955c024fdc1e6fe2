#!/usr/bin/env node
// Starts the skilltune of this platform with the same arguments and streams, and ends as it ends.
"use strict";

const { spawn } = require("node:child_process");
const fs = require("node:fs");

function fail(what, hint) {
  process.stderr.write(`error: ${what}\nhint: ${hint}\n`);
  process.exit(2);
}

function isGlibc() {
  process.report.excludeNetwork = true;
  return Boolean(process.report.getReport().header.glibcVersionRuntime);
}

// npm installs the one package whose os, cpu and libc fit. An npm that does not know libc installs two; the one for musl
// is static and runs everywhere.
function binary() {
  const { platform, arch, env } = process;
  if (env.SKILLTUNE_BINARY) return env.SKILLTUNE_BINARY;
  if (platform === "win32") {
    fail("skilltune does not run on Windows itself", "run `wsl --install`, then install skilltune inside WSL");
  }
  const name = `@skilltune/${platform}-${arch}`;
  const names = platform !== "linux" ? [name] : isGlibc() ? [name, `${name}-musl`] : [`${name}-musl`];
  for (const one of names) {
    try {
      return require.resolve(`${one}/bin/skilltune`);
    } catch {
      // Not installed.
    }
  }
  if (!(name in require("../package.json").optionalDependencies)) {
    fail(`there is no package for ${platform} on ${arch}`, "build skilltune from source, with Rust: `cargo install --path cli --locked` in a clone");
  }
  fail(
    `the package ${names[0]} is not installed`,
    "install without --omit=optional, or set SKILLTUNE_BINARY to a skilltune built for this platform",
  );
}

function hasTerminal() {
  try {
    fs.closeSync(fs.openSync("/dev/tty", "r"));
    return true;
  } catch {
    return false;
  }
}

const file = binary();
const child = spawn(file, process.argv.slice(2), { stdio: "inherit" });
const fromTerminal = hasTerminal();
for (const signal of ["SIGINT", "SIGQUIT", "SIGHUP", "SIGTERM"]) {
  process.on(signal, () => {
    // A terminal sends its signals to the child as well, and a second one would mean something else.
    if (signal === "SIGTERM" || !fromTerminal) child.kill(signal);
  });
}
child.on("error", (error) => fail(`cannot start ${file}: ${error.message}`, "set SKILLTUNE_BINARY to a working skilltune"));
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
