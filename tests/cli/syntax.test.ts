/** Where a script has a syntax error, whoever is there to find it. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { checked } from "../../packages/kiln/src/cli/script.ts";

const folder = mkdtempSync(join(tmpdir(), "kiln-syntax-"));
test.after(() => rmSync(folder, { recursive: true, force: true }));

const placed = (name: string, text: string): string | undefined => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return checked(path)?.slice(path.length);
};

test("Node's own check has line and column, where esbuild is not installed", () => {
  assert.is(placed("a.mjs", "export const x = ;\n"), ":1:18: Unexpected token ';'");
  assert.is(placed("b.mjs", "const a = 1;\nconst b = [2, 3;\n"), ":2:16: Unexpected token ';'");
  assert.is(placed("c.mjs", "export const x = 1;\n"), undefined);
});

test.run();
