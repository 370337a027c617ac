/**
 * Kernels written by hand, as the schedules would build them: what the printers are tried on.
 */
import { addDim, type Dim, type Dtype, dim, loopVar, mulDim, subDim } from "@kiln-ml/ir";
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
  wide,
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
