/**
 * What a machine is like, what was measured on it, and how far the compiler looks, stands in
 * `compiler/src/machine` and `sizes.ts` with source and date: fusion, passes, lowering, schedules
 * and plan ask there. A number beyond 8, or with a part behind the point, is loose elsewhere.
 */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { repositoryFiles, type SourceFile } from "./source-files.ts";

const files = repositoryFiles("compiler/src");

const rooms = /^compiler\/src\/((fuse|passes|lower|schedule|plan)\/.*)$/;

const tables = /^compiler\/src\/(machine\/.*|sizes\.ts)$/;

/** Files with numbers that no machine decides, and how many. */
const exempt: Readonly<Record<string, number>> = {
  // What masks are filled with: the far end of f32, and half as far again as the least that counts.
  "fuse/causal.ts": 2,
  // The rotations of threefry2x32, and the bits of a word.
  "lower/threefry.ts": 8,
  // Places that are below the largest i32.
  "schedule/gpu/sort.ts": 2,
  // Bits of words, and of halves of them.
  "schedule/simd/in-blocks.ts": 1,
  "schedule/simd/integers.ts": 3,
  // Also the ranges of bytes, of shifted words, and the greatest small step.
  "schedule/simd/steps.ts": 11,
};

/** Comments and texts are taken out. */
const code = (text: string): string =>
  text.replace(/\/\*[\s\S]*?\*\/|\/\/.*|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g, "");

const numbersIn = (text: string): string[] =>
  [...code(text).matchAll(/(?<![\w$.])\d[\d_]*(?:\.\d+)?(?:e-?\d+)?/g)]
    .map(([n]) => n)
    .filter((n) => Number(n) > 8 || !Number.isInteger(Number(n)));

function looseNumbers(all: readonly SourceFile[], allowed = exempt): string[] {
  return all.flatMap(({ path, text }) => {
    const file = rooms.exec(path)?.[1];
    if (file === undefined) return [];
    const found = numbersIn(text);
    const most = allowed[file] ?? 0;
    if (found.length > most) return [`${file}: ${found.join(" ")}, of which ${most} may be loose`];
    return found.length < most ? [`${file}: ${found.length} numbers are loose, not ${most}`] : [];
  });
}

test("no number is loose but those that no machine decides", () => {
  assert.equal(looseNumbers(files), []);
  const there = new Set(files.map(({ path }) => rooms.exec(path)?.[1]));
  assert.equal(
    Object.keys(exempt).filter((file) => !there.has(file)),
    [],
  );
});

test("a number that is planted is found, one in a comment or text is none", () => {
  const of = (text: string): string[] =>
    looseNumbers([{ path: "compiler/src/fuse/a.ts", text }], { "fuse/b.ts": 1 });
  assert.equal(of('const busy = 8; // 192 once\n/** Of 64. */ f(`x 64`, "128", a16);'), []);
  assert.equal(of("const busy = 192;"), ["fuse/a.ts: 192, of which 0 may be loose"]);
  assert.equal(of("x > 1 << 18 || y * 0.5"), ["fuse/a.ts: 18 0.5, of which 0 may be loose"]);
  assert.equal(looseNumbers([{ path: "compiler/src/fuse/b.ts", text: "" }], { "fuse/b.ts": 1 }), [
    "fuse/b.ts: 0 numbers are loose, not 1",
  ]);
});

test("each table of a machine says where its numbers are from, and when", () => {
  let found = 0;
  for (const { path, text } of files.filter((f) => tables.test(f.path)))
    for (const [before] of text.matchAll(
      /(\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?(?:\/\/.*\n)?export const \w+/g,
    )) {
      found++;
      assert.match(before, /20\d\d-\d\d/, `${path}: ${before}`);
    }
  assert.ok(found >= 30, `${found} tables`);
});

test.run();
