/**
 * Which compiler a build has: a hash of all sources that decide what a program is compiled to. Kept
 * programs of another build are never found (docs/decisions/compile-cache.md).
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Front doors give the compiler graphs, whose texts are in the keys already. */
const deciding = ["compiler/src", "packages/ir/src", "packages/artifact/src"];

export function buildHash(root: string): string {
  const hash = createHash("sha256");
  for (const folder of deciding)
    for (const file of readdirSync(join(root, folder), { recursive: true }).map(String).sort())
      if (file.endsWith(".ts")) hash.update(file).update(readFileSync(join(root, folder, file)));
  return hash.digest("hex").slice(0, 32);
}

/** What bundlers put into the place of `KILN_BUILD`. */
export const buildDefine = (root: string): { readonly KILN_BUILD: string } => ({
  KILN_BUILD: JSON.stringify(buildHash(root)),
});
