/**
 * What a machine is like, and what was measured on it, stands in `compiler/src/machine` with source and date: fusion,
 * passes and schedules of webgpu ask there. A number beyond 8, or with a part behind the point, is loose elsewhere.
 */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { repositoryFiles, type SourceFile } from "./source-files.ts";

const files = repositoryFiles("compiler/src");

/** Rooms of which the numbers are told apart; those of schedules for the CPU are to follow. */
const rooms = /^compiler\/src\/((fuse|passes|schedule\/gpu)\/.*)$/;

/** Files with loose numbers still, and how many: none is added, and none rises. */
const exempt: Readonly<Record<string, number>> = {
  "fuse/attention.ts": 1,
  "fuse/causal.ts": 2,
  "fuse/compute-at.ts": 1,
  "fuse/horizontal.ts": 1,
  "fuse/kernel-limits.ts": 6,
  "fuse/state.ts": 1,
  "fuse/weighted-sum.ts": 1,
  "passes/fold.ts": 1,
  "passes/reuse-product.ts": 1,
  "passes/split-concat.ts": 1,
  "schedule/gpu/attention-tile.ts": 3,
  "schedule/gpu/attention.ts": 1,
  "schedule/gpu/edge-tiles.ts": 6,
  "schedule/gpu/k-order.ts": 2,
  "schedule/gpu/matrix-unit.ts": 4,
  "schedule/gpu/skinny.ts": 13,
  "schedule/gpu/sort.ts": 2,
  "schedule/gpu/tile-load.ts": 1,
  "schedule/gpu/tile.ts": 1,
  "schedule/gpu/tiling.ts": 35,
  "schedule/gpu/weighted.ts": 3,
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

test("no number is loose but in files that are still to follow", () => {
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
  let tables = 0;
  for (const { path, text } of files.filter((f) => f.path.startsWith("compiler/src/machine/")))
    for (const [before] of text.matchAll(
      /(\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?(?:\/\/.*\n)?export const \w+/g,
    )) {
      tables++;
      assert.match(before, /20\d\d-\d\d/, `${path}: ${before}`);
    }
  assert.ok(tables >= 10, `${tables} tables`);
});

test.run();
