/**
 * Native prints wasm's instructions: each that wasm's printer names has its spelling in C, so that
 * one which a schedule of wasm comes to use is not found missing by who compiles for native.
 */
import { readdirSync, readFileSync } from "node:fs";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { operators } from "../../compiler/src/targets/native/operators.ts";
import { instructions } from "../../compiler/src/targets/wasm/opcodes.ts";

const folder = "compiler/src/targets/wasm";

/** The tables themselves, and the functions that sort, which native has in its library. */
const apart = new Set(["opcodes.ts", "encode.ts", "sort.ts"]);

/** What `c-text.ts` reads as part of a load or a statement, not as an operator. */
const read = new Set([
  "drop",
  "i16x8.extend_low_i8x16_u",
  "i32x4.extend_low_i16x8_u",
  "nop",
  "return",
  "select",
  "unreachable",
]);

test("each instruction that wasm's printer names has a spelling in C", () => {
  const plain = new Set(instructions.filter((i) => i.kind === "plain").map((i) => i.name));
  const named = new Set<string>();
  for (const file of readdirSync(folder, { recursive: true }).map(String)) {
    if (!file.endsWith(".ts") || apart.has(file)) continue;
    for (const [, name] of readFileSync(`${folder}/${file}`, "utf8").matchAll(/"([\w.]+)"/g))
      if (plain.has(name!)) named.add(name!);
  }
  assert.ok(named.size > 50, `${named.size} names`);
  const missing = [...named].filter((name) => !operators.has(name) && !read.has(name));
  assert.equal(missing.sort(), []);
});

test.run();
