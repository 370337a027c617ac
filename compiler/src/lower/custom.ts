/**
 * Lowers a kernel of the user: its parameters are the operands, once each, and the result; its
 * statements are the user's, which nothing here reads. Runs in the place of a schedule; refuses a
 * target that the user has no text for.
 */
import type { TargetName } from "@kiln-ml/artifact";
import { packedBytes } from "@kiln-ml/artifact";
import {
  addDim,
  collectSymbols,
  type Dim,
  GraphError,
  mulDim,
  opOf,
  sizeOf,
  type Tensor,
} from "@kiln-ml/ir";
import { aliasRoot } from "../access.ts";
import type { Group } from "../fuse/group.ts";
import type { CustomText, Param } from "../kernel/kernel.ts";
import { bufferName } from "../kernel/names.ts";
import type { Lowered } from "./lower.ts";

/** By target, the attribute with its text. */
const textOf: Partial<Record<TargetName, "js" | "wgsl">> = { js: "js", webgpu: "wgsl" };

export function lowerCustom(group: Group, target: TargetName): Lowered {
  const node = opOf(group.anchor!, "customKernel");
  const { name, threads, workgroupSize } = node.attrs;
  const kind = textOf[target];
  const text = kind && node.attrs[kind];
  if (text === undefined) {
    const others = Object.entries(textOf).flatMap(([t, k]) => (node.attrs[k] ? [t] : []));
    const where = node.site ? ` (${node.site})` : "";
    throw new GraphError(
      `compile: customKernel ${name} has no text for target ${target}${where}\n  compile for ${others.join(" or ")}${kind ? `, or give it ${kind}` : ""}`,
    );
  }
  const roots = node.operands.map(aliasRoot);
  const tensors = [...new Set(roots), node];
  const params = tensors.map(
    (t, i): Param => ({
      name: bufferName(`p${i}`),
      dtype: t.dtype,
      size: sizeOf(t.shape),
      access: t === node ? "write" : "read",
      width: 1,
    }),
  );
  const called = node.attrs.operands.split(",");
  const arrays = [...node.operands, node].map((t, i) => ({
    name: called[i] ?? "y",
    param: tensors.indexOf(roots[i] ?? node),
    shape: t.shape,
  }));
  const custom: CustomText = { text, arrays, threads };
  return {
    group,
    kernel: {
      name,
      params,
      dims: symbolsOf([threads, ...arrays.flatMap((a) => a.shape)]),
      // Two kernels are one only if this is the same; it is not printed into a text.
      body: [{ kind: "comment", text: JSON.stringify([kind, workgroupSize, custom], dimText) }],
      workgroupSize,
      bytes: params.reduce<Dim>((sum, p) => addDim(sum, mulDim(p.size, packedBytes(p.dtype))), 0),
      flops: sizeOf(node.shape),
      custom,
    },
    tensors,
    reads: new Set(roots),
    writes: new Map<Tensor, Tensor>([[node, node]]),
  };
}

const dimText = (_: string, value: unknown): unknown =>
  typeof value === "object" && value !== null && "key" in value ? value.key : value;

function symbolsOf(dims: readonly Dim[]): string[] {
  const found = new Map();
  for (const d of dims) collectSymbols(d, found);
  return [...found.keys()].sort();
}
