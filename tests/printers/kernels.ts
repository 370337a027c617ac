/**
 * Kernels written by hand, as the schedules would build them: what the printers are tried on.
 */
import {
  addDim,
  type Dim,
  type Dtype,
  dim,
  floorDiv,
  loopVar,
  modDim,
  mulDim,
  subDim,
} from "@kiln-ml/ir";
import type { Expr, Kernel, Param, Stmt } from "../../compiler/src/kernel/kernel.ts";

export const f32 = (value: number): Expr => ({ kind: "const", dtype: "f32", value });
export const ref = (name: string, dtype: Dtype = "f32"): Expr => ({ kind: "ref", name, dtype });
export const call = (op: string, dtype: Dtype, ...args: Expr[]): Expr => ({
  kind: "call",
  op,
  args,
  dtype,
});
export const load = (from: string, index: Dim, dtype: Dtype = "f32"): Expr => ({
  kind: "load",
  from,
  index,
  guard: [],
  dtype,
});
export const store = (to: string, index: Dim, value: Expr): Stmt => ({
  kind: "store",
  to,
  index,
  value,
});
export const acc = (name: string, init: number, wide = true, dtype: Dtype = "f32"): Stmt => ({
  kind: "acc",
  name,
  dtype,
  init: { kind: "const", dtype, value: init },
  widened: wide,
});
export const param = (
  name: string,
  size: Dim,
  access: Param["access"] = "read",
  dtype: Dtype = "f32",
  width: Param["width"] = 1,
): Param => ({ name, dtype, size, access, width });

type LoopKind = Extract<Stmt, { kind: "loop" }>["loop"];
export const loop = (v: Dim, extent: Dim, body: Stmt[], kind: LoopKind = "serial"): Stmt => ({
  kind: "loop",
  name: String(v),
  extent,
  loop: kind,
  body,
});

export const kernel = (
  name: string,
  params: Param[],
  body: Stmt[],
  options: { dims?: string[]; workgroupSize?: number } = {},
): Kernel => ({
  name,
  params,
  dims: options.dims ?? [],
  body,
  workgroupSize: options.workgroupSize ?? 1,
  bytes: 0,
  flops: 0,
});

const N = dim("N");

/** out[i, j] = tanh(x[i, j] + b[i]) · (x[i, j] + b[i]), x padded by one column on the left. */
export function mapPad(
  rows: LoopKind = "parallel",
  columns: LoopKind = "serial",
  size = 1,
): Kernel {
  const K = 5;
  const [i, j] = [loopVar("i", N), loopVar("j", K + 1)];
  const x: Expr = {
    ...(load("x", addDim(mulDim(i, K), subDim(j, 1))) as Extract<Expr, { kind: "load" }>),
    guard: [{ value: subDim(j, 1), test: "nonnegative" }],
  };
  const sum = call("add", "f32", x, load("b", i));
  const body = store(
    "out",
    addDim(mulDim(i, K + 1), j),
    call("mul", "f32", call("tanh", "f32", sum), sum),
  );
  return kernel(
    "mapPad",
    [param("x", mulDim(N, K)), param("b", N), param("out", mulDim(N, K + 1), "write")],
    [loop(i, N, [loop(j, K + 1, [body], columns)], rows)],
    { dims: ["N"], workgroupSize: size },
  );
}

/** out[i, j] = e^(x[i, j] − mᵢ) / Σⱼ e^(x[i, j] − mᵢ), mᵢ = maxⱼ x[i, j]; a row a workgroup where size > 1. */
export function softmax(size = 1): Kernel {
  const K = 7;
  const i = loopVar("row", N);
  const [j, k, l] = [loopVar("j", K), loopVar("k", K), loopVar("l", K)];
  const at = (c: Dim): Dim => addDim(mulDim(i, K), c);
  const shifted = (c: Dim): Expr =>
    call("exp", "f32", call("sub", "f32", load("x", at(c)), ref("m")));
  const inner: LoopKind = size > 1 ? "local" : "serial";
  const combine = (name: string, reducer: "max" | "sum"): Stmt[] =>
    size > 1 ? [{ kind: "combine", names: [name], reducers: [reducer] }] : [];
  const body: Stmt[] = [
    acc("m", -Infinity, false),
    loop(j, K, [{ kind: "accumulate", name: "m", reducer: "max", value: load("x", at(j)) }], inner),
    ...combine("m", "max"),
    acc("s", 0),
    loop(k, K, [{ kind: "accumulate", name: "s", reducer: "sum", value: shifted(k) }], inner),
    ...combine("s", "sum"),
    loop(l, K, [store("out", at(l), call("div", "f32", shifted(l), ref("s")))], inner),
  ];
  const params = [param("x", mulDim(N, K)), param("out", mulDim(N, K), "write")];
  const outer: LoopKind = size > 1 ? "workgroup" : "parallel";
  return kernel("softmax", params, [loop(i, N, body, outer)], { dims: ["N"], workgroupSize: size });
}

/** out[i, v] = Σₖ a[i, k] · w[k, v], four columns at a time: accumulators with lanes, a splat and a vector load. */
export function matmulVector(size = 1): Kernel {
  const [K, C] = [6, 8];
  const [i, c, k, v] = [loopVar("i", N), loopVar("c", C / 4), loopVar("k", K), loopVar("v", 4)];
  const column = addDim(mulDim(c, 4), v);
  const body: Stmt[] = [
    acc("s", 0),
    loop(k, K, [
      {
        kind: "fma",
        name: "s",
        a: load("a", addDim(mulDim(i, K), k)),
        b: load("w", addDim(mulDim(k, C), column)),
      },
    ]),
    store("out", addDim(mulDim(i, C), column), ref("s")),
  ];
  const inner = loop(c, C / 4, [loop(v, 4, body, "vector")], size > 1 ? "local" : "serial");
  return kernel(
    "matmulVector",
    [
      param("a", mulDim(N, K)),
      param("w", K * C, "read", "f32", 4),
      param("out", mulDim(N, C), "write", "f32", 4),
    ],
    [loop(i, N, [inner], size > 1 ? "workgroup" : "parallel")],
    { dims: ["N"], workgroupSize: size },
  );
}

/** out[j, i] = x[i, j] for 8×8 tiles through shared memory; N and M are multiples of 8. */
export function transposeTile(): Kernel {
  const [M, T] = [dim("M"), 8];
  const rows = floorDiv(N, T);
  const columns = floorDiv(M, T);
  const [ti, tj] = [loopVar("ti", rows), loopVar("tj", columns)];
  const [p, q] = [loopVar("p", T * T), loopVar("q", T * T)];
  const at = (t: Dim, inner: Dim): Dim => addDim(mulDim(t, T), inner);
  const from = addDim(mulDim(at(ti, floorDiv(p, T)), M), at(tj, modDim(p, T)));
  const to = addDim(mulDim(at(tj, floorDiv(q, T)), N), at(ti, modDim(q, T)));
  const body: Stmt[] = [
    loop(p, T * T, [store("tile", p, load("x", from))], "local"),
    { kind: "barrier" },
    loop(
      q,
      T * T,
      [store("out", to, load("tile", addDim(mulDim(modDim(q, T), T), floorDiv(q, T))))],
      "local",
    ),
  ];
  return kernel(
    "transposeTile",
    [param("x", mulDim(N, M)), param("out", mulDim(N, M), "write")],
    [
      { kind: "array", name: "tile", dtype: "f32", size: T * T, space: "shared" },
      loop(ti, rows, [loop(tj, columns, body, "workgroup")], "workgroup"),
    ],
    { dims: ["N", "M"], workgroupSize: 32 },
  );
}

/** out[i, j] = table[clamp(index[i]), j]. */
export function gatherRows(size = 1): Kernel {
  const [K, V] = [4, 10];
  const [i, j] = [loopVar("i", N), loopVar("j", K)];
  const bound = (value: number): Expr => ({ kind: "const", dtype: "i32", value });
  const index = call(
    "minimum",
    "i32",
    call("maximum", "i32", load("index", i, "i32"), bound(0)),
    bound(V - 1),
  );
  const row = loopVar("row", V);
  const body = loop(j, K, [
    store("out", addDim(mulDim(i, K), j), load("table", addDim(mulDim(row, K), j))),
  ]);
  return kernel(
    "gatherRows",
    [param("index", N, "read", "i32"), param("table", V * K), param("out", mulDim(N, K), "write")],
    [
      loop(
        i,
        N,
        [{ kind: "letDynamic", name: "row", value: index }, body],
        size > 1 ? "local" : "parallel",
      ),
    ],
    { dims: ["N"], workgroupSize: size },
  );
}

/** out[0] = the first position of the greatest element; out[1] is 1 if any element is negative. */
export function argMaxAny(size = 1): Kernel {
  const i = loopVar("i", N);
  const value = load("x", i);
  const body: Stmt[] = [
    acc("place", 0, false, "i32"),
    acc("negative", 0, false, "bool"),
    loop(
      i,
      N,
      [
        { kind: "accumulate", name: "place", reducer: "argMax", value, position: i },
        {
          kind: "accumulate",
          name: "negative",
          reducer: "any",
          value: call("less", "bool", value, f32(0)),
        },
      ],
      "local",
    ),
    { kind: "combine", names: ["place", "negative"], reducers: ["argMax", "any"] },
    store("out", 0, ref("place", "i32")),
    store("out", 1, call("convert", "i32", ref("negative", "bool"))),
  ];
  return kernel("argMaxAny", [param("x", N), param("out", 2, "write", "i32")], body, {
    dims: ["N"],
    workgroupSize: size,
  });
}

/** out = Σ x over the vector lanes of one accumulator, and the greatest element, NaN if there is one. */
export function sumMaxLanes(size = 1): Kernel {
  const n = 32;
  const [i, v] = [loopVar("i", n / 4), loopVar("v", 4)];
  const value = load("x", addDim(mulDim(i, 4), v));
  const body: Stmt[] = [
    acc("s", 0),
    acc("m", -Infinity),
    loop(
      i,
      n / 4,
      [
        loop(
          v,
          4,
          [
            { kind: "accumulate", name: "s", reducer: "sum", value },
            { kind: "accumulate", name: "m", reducer: "max", value },
          ],
          "vector",
        ),
      ],
      "local",
    ),
    { kind: "combine", names: ["s", "m"], reducers: ["sum", "max"] },
    store("out", 0, ref("s")),
    store("out", 1, ref("m")),
  ];
  return kernel("sumMaxLanes", [param("x", n, "read", "f32", 4), param("out", 2, "write")], body, {
    workgroupSize: size,
  });
}
