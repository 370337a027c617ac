// `npm start` from a fresh clone: installs what is missing, then runs the MNIST example: training,
// the trained artifact in a process of its own, and the comparison with fusion off. Uses only Node
// itself until the install is known to be current. Arguments go to every script: npm start --
// --epochs 5

import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { install } from "./install.mjs";

process.chdir(join(dirname(fileURLToPath(import.meta.url)), "../.."));
const started = performance.now();

let child;
// The scripts decide what an interrupt means; this process only outlives them.
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child?.kill(signal));

/** Resolves to the exit code of a script; 128 + n if signal n ended it, as shells have it. */
function run(script, args) {
  const node = ["--conditions=@kiln-ml/source", "--import", "tsx", script, ...args];
  child = spawn(process.execPath, node, { stdio: "inherit" });
  return new Promise((resolve) => {
    child.on("error", () => resolve(1));
    child.on("exit", (code, signal) => resolve(code ?? (signal === "SIGINT" ? 130 : 143)));
  });
}

async function main() {
  if (!install()) {
    console.error("npm ci failed");
    return 1;
  }
  const args = process.argv.slice(2);
  for (const name of ["train", "deploy", "fusion"]) {
    const code = await run(`examples/mnist/${name}.ts`, args);
    // All three have the same options.
    if (code !== 0 || args.includes("--help")) return code;
  }
  console.log(`\ndone in ${((performance.now() - started) / 1000).toFixed(0)} s`);
  return 0;
}

process.exitCode = await main();
