// Brings node_modules up to the lock file, for the scripts that must work from a fresh clone: uses only Node itself.
// Installs nothing where every locked package is there in the locked version.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

const readJson = (path) => JSON.parse(readFileSync(path, "utf8"));

/** The first locked package that node_modules lacks or has in another version, or undefined. */
function stalePackage() {
  if (!existsSync("node_modules/.package-lock.json")) return "node_modules";
  const locked = readJson("package-lock.json").packages;
  const installed = readJson("node_modules/.package-lock.json").packages;
  return Object.keys(locked).find((path) => {
    if (!path.startsWith("node_modules/")) return false;
    const want = locked[path];
    const have = installed[path];
    // Optional packages of other platforms are never installed.
    if (have === undefined || !existsSync(path)) return !want.optional;
    return want.version !== have.version || want.integrity !== have.integrity;
  });
}

/** Runs `npm ci` in the current folder, the root, if node_modules is missing or stale. False if that fails. */
export function install() {
  const stale = stalePackage();
  if (stale === undefined) return true;
  console.log(`${stale} is missing or stale: npm ci`);
  const npm = process.env.npm_execpath;
  const args = ["ci", "--no-audit", "--no-fund"];
  const [command, rest] = npm?.endsWith(".js") ? [process.execPath, [npm, ...args]] : ["npm", args];
  return spawnSync(command, rest, { stdio: "inherit" }).status === 0;
}
