/**
 * `npm run site`: builds the site into `out/site`, static files that any server can give. `-- --serve` gives them on 127.0.0.1.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { siteFiles } from "./site.ts";

const root = resolve(import.meta.dirname, "../../..");
const out = join(root, "out/site");
const started = performance.now();
const files = await siteFiles(root);
rmSync(out, { recursive: true, force: true });
let bytes = 0;
for (const [path, content] of Object.entries(files)) {
  mkdirSync(dirname(join(out, path)), { recursive: true });
  writeFileSync(join(out, path), content);
  bytes += content.length;
}
const ms = Math.round(performance.now() - started);
const count = Object.keys(files).length;
console.log(`out/site: ${count} files, ${(bytes / 1e6).toFixed(1)} MB, in ${ms} ms`);
