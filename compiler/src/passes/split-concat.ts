/**
 * Makes a tree of a concatenation of many operands, so that no kernel has to read them all: where
 * one would bind more tensors than the target allows, a part of the tree is stored.
 *
 * before:
 *   graph f(%a: f32[1,2]) {
 *     %1: f32[1,16] = concat %a %a %a %a %a %a %a %a {axis=1}
 *     %2: f32[1,16] = neg %1
 *     return %2
 *   }
 * after:
 *   graph f(%a: f32[1,2]) {
 *     %1: f32[1,8] = concat %a %a %a %a {axis=1}
 *     %2: f32[1,16] = concat %1 %1 {axis=1}
 *     %3: f32[1,16] = neg %2
 *     return %3
 *   }
 *
 * Not done for few operands, nor for what a program gives out: its parts are written in their
 * places.
 */
import {
  addDim,
  type Dim,
  inPlaceOf,
  isOp,
  makeNode,
  type Tensor,
  withOperands,
} from "@kiln-ml/ir";
import { aliasRoot } from "../access.ts";
import { partsOf } from "../fuse/storage.ts";
import type { Pass } from "../pass.ts";
import { mapRoots, nodesOf, type Program, rootsOf } from "../program.ts";
import { kernels } from "../sizes.ts";

/**
 * Tensors that every device lets a kernel bind. More than those are not worth the search for the
 * one that is read.
 */
const usual = 8;

export const splitConcat: Pass = {
  name: "split-concat",
  run: (program, _choices, bindings = usual) =>
    split(
      program,
      Number.isFinite(bindings) ? Math.max(2, Math.min(bindings, usual) - 1) : kernels.mostPieces,
    ),
};

/** `most` operands and the result are what a kernel binds. */
function split(program: Program, most: number): Program {
  const roots = new Set(rootsOf(program).map(aliasRoot));
  const done = new Map<Tensor, Tensor>();
  for (const node of nodesOf(program)) {
    const operands = node.operands.map((t) => done.get(t)!);
    const wide = operands.length > most && !isWritten(node, roots);
    const result = inPlaceOf(node, () =>
      isOp(node, "concat") && wide
        ? tree(operands, node.attrs.axis, most)
        : withOperands(node, operands),
    );
    done.set(node, result);
  }
  return mapRoots(program, (root) => done.get(root)!);
}

/**
 * True of a result, which is written piece by piece: in place where they are computed, and by one
 * kernel if they are few.
 */
const isWritten = (node: Tensor, roots: ReadonlySet<Tensor>): boolean =>
  roots.has(node) && (node.operands.length <= kernels.mostPieces || partsOf(node) !== undefined);

function tree(operands: readonly Tensor[], axis: number, most: number): Tensor {
  if (operands.length <= most) return joined(operands, axis);
  const parts = Math.ceil(operands.length / most);
  const per = Math.ceil(operands.length / parts);
  const level = Array.from({ length: parts }, (_, i) =>
    joined(operands.slice(i * per, (i + 1) * per), axis),
  );
  return tree(level, axis, most);
}

function joined(operands: readonly Tensor[], axis: number): Tensor {
  const [first] = operands;
  if (operands.length === 1) return first!;
  const extent = operands.reduce<Dim>((sum, t) => addDim(sum, t.shape[axis]!), 0);
  const shape = first!.shape.map((d, i) => (i === axis ? extent : d));
  return makeNode({
    op: "concat",
    operands: [...operands],
    attrs: { axis },
    dtype: first!.dtype,
    shape,
  });
}
