/**
 * Decompositions on one thread of wasm against plain loops of C on the same machine, of the same
 * numbers: milliseconds of each, and whether both give the same. A machine without a C compiler
 * gives rows without a peer.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dataLeaf } from "@kiln-ml/ir";
import { createWasmDevice } from "@kiln-ml/runtime";
import { compile, linalg, type Tensor, useDevice } from "kiln-ml";
import { timed, timingOf, worse } from "../measure.ts";
import { noise } from "../noise.ts";
import { compared, type Row } from "../row.ts";

interface Decomposition {
  readonly of: (x: Tensor, b: Tensor) => readonly Tensor[];
  /** What is compared with what C gives: all of it, or what does not depend on signs and order. */
  readonly checked: (y: readonly Float32Array[], n: number) => Float32Array;
  readonly symmetric?: boolean;
}

const first = (y: readonly Float32Array[]): Float32Array => y[0]!;
const ascending = (y: readonly Float32Array[]): Float32Array => y[0]!.slice().sort();

/** L below the diagonal and U from it on, as C keeps them. */
const packed = ([l, u]: readonly Float32Array[], n: number): Float32Array =>
  l!.map((v, i) => (Math.floor(i / n) > i % n ? v : u![i]!));

const decompositions: Readonly<Record<string, Decomposition>> = {
  lu: {
    of: (x) => {
      const { l, u } = linalg.lu(x);
      return [l, u];
    },
    checked: packed,
  },
  cholesky: { of: (x) => [linalg.cholesky(x)], checked: first, symmetric: true },
  solve: { of: (x, b) => [linalg.solve(x, b)], checked: first },
  inv: { of: (x) => [linalg.inv(x)], checked: first },
  qr: {
    of: (x) => {
      const { q, r } = linalg.qr(x);
      return [r, q];
    },
    checked: first,
  },
  eigh: {
    of: (x) => {
      const { values, vectors } = linalg.eigh(x);
      return [values, vectors];
    },
    checked: ascending,
    symmetric: true,
  },
  svd: {
    of: (x) => {
      const { u, s, vt } = linalg.svd(x);
      return [s, u, vt];
    },
    checked: ascending,
  },
};

/** Well conditioned numbers; symmetric and positive where that is asked for. */
function matrixOf(n: number, seed: number, symmetric = false): Float32Array {
  const x = noise(n * n, seed);
  return x.map((v, k) => {
    const [i, j] = [Math.floor(k / n), k % n];
    if (symmetric) return (v + x[j * n + i]!) / 2 + (i === j ? 2 * Math.sqrt(n) : 0);
    return v + (i === j ? 2 : 0);
  });
}

/** The program of C, in a folder of its own; undefined where no compiler is found. */
function compiledC(folder: string): string | undefined {
  const path = join(folder, "plain");
  const flags = ["-O3", "-ffast-math", "-o", path, "bench/linalg/plain.c", "-lm"];
  try {
    execFileSync(process.env.CC ?? "cc", flags, { stdio: "pipe" });
    return path;
  } catch {
    return undefined;
  }
}

/** Runs C once on the same numbers: milliseconds, and what it gives. */
type RunC = () => { readonly ms: number; readonly y: Float32Array };

function runnerOfC(plain: string, folder: string, op: string, n: number): RunC {
  const [x, b, y] = ["x", "b", "y"].map((name) => join(folder, `${name}.bin`)) as [string, string, string]; // biome-ignore format: one line
  writeFileSync(x, matrixOf(n, 1, decompositions[op]!.symmetric));
  writeFileSync(b, matrixOf(n, 2));
  return () => {
    // The second of two rounds, as what Kiln runs is warm.
    const out = execFileSync(plain, [op, `${n}`, "2", x, b, y], { encoding: "utf8" });
    const bytes = readFileSync(y);
    const ms = Number(out.trim().split("\n").at(-1));
    return { ms, y: new Float32Array(bytes.buffer, bytes.byteOffset, n * n) };
  };
}

/** The largest difference as a share of the largest value. */
function apart(got: Float32Array, want: Float32Array): number {
  let [most, size] = [0, 0];
  for (const [i, g] of got.entries()) {
    most = Math.max(most, Math.abs(g - want[i]!));
    size = Math.max(size, Math.abs(want[i]!));
  }
  return most / size;
}

/** Both take turns, so that what else the machine does meets both. */
async function rowOf(op: string, n: number, rounds: number, c: RunC | undefined): Promise<Row> {
  const { of, checked, symmetric } = decompositions[op]!;
  const [x, b] = [1, 2].map((seed) =>
    dataLeaf("f32", [n, n], matrixOf(n, seed, symmetric && seed === 1)),
  ) as [Tensor, Tensor];
  const run = compile((a: Tensor, r: Tensor) => [...of(a, r)], { target: "wasm" });
  let last: readonly Tensor[] = [];
  const work = async () => {
    for (const t of last) t.dispose();
    last = (await run(x, b)) as readonly Tensor[];
  };
  for (let i = 0; i < 3; i++) await work();
  const [ownMs, peerMs]: [number[], number[]] = [[], []];
  let want: Float32Array | undefined;
  for (let r = 0; r < rounds; r++) {
    ownMs.push(await timed(work));
    if (!c) continue;
    const { ms, y } = c();
    peerMs.push(ms);
    want = y;
  }
  const values = await Promise.all(last.map(async (t) => (await t.data()) as Float32Array));
  for (const t of [...last, x, b]) t.dispose();
  const own = timingOf(ownMs);
  const row = {
    case: `linalg ${op} ${n}`,
    target: "wasm",
    metric: "time",
    unit: "ms",
    value: own.median,
  };
  if (!want) return { ...row, spread: own.spread, note: "no C compiler here" };
  const peer = timingOf(peerMs);
  const far = apart(
    checked(values, n),
    op === "eigh" || op === "svd" ? want.slice(0, n).sort() : want,
  );
  return {
    ...compared({ ...row, peer: "C", peerValue: peer.median, spread: worse(own, peer) }, 0.33),
    note: `differs by ${far.toExponential(1)}`,
  };
}

/** Rows of every decomposition, each at most three times as slow as C. */
export async function linalgRows(
  selected: (name: string) => boolean,
  { n = 512, rounds = 7 } = {},
): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), "kiln-linalg-"));
  try {
    const plain = compiledC(folder);
    useDevice(createWasmDevice({ threads: 1 }));
    const rows: Row[] = [];
    for (const op of Object.keys(decompositions).filter((name) => selected(`linalg ${name}`))) {
      const c = plain === undefined ? undefined : runnerOfC(plain, folder, op, n);
      rows.push(await rowOf(op, n, rounds, c));
    }
    return rows;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
