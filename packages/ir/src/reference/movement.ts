/**
 * Reference values of the movement ops: every element is looked up in an operand, or is the fill.
 */
import { evaluateDim } from "../dim-evaluate.ts";
import type { Evaluate } from "./value.ts";
import { elementAt, inside, tabulate } from "./walk.ts";

const transpose: Evaluate<"transpose"> = (node, [x], dims) => {
  const perm = node.attrs.perm;
  return tabulate(node, dims, (at) =>
    elementAt(
      x!,
      perm.map((_, axis) => at[perm.indexOf(axis)]!),
    ),
  );
};

const broadcastInDim: Evaluate<"broadcastInDim"> = (node, [x], dims) =>
  tabulate(node, dims, (at) =>
    elementAt(
      x!,
      node.attrs.dims.map((d, k) => (x!.shape[k] === 1 ? 0 : at[d]!)),
    ),
  );

const reverse: Evaluate<"reverse"> = (node, [x], dims) =>
  tabulate(node, dims, (at) =>
    elementAt(
      x!,
      at.map((c, i) => (node.attrs.axes.includes(i) ? x!.shape[i]! - 1 - c : c)),
    ),
  );

const reshape: Evaluate<"reshape"> = (node, [x], dims) => {
  let i = 0;
  return tabulate(node, dims, () => x!.data[i++]!);
};

const slice: Evaluate<"slice"> = (node, [x], dims) => {
  const start = node.attrs.start.map((d) => evaluateDim(d, dims));
  const stride = node.attrs.stride;
  return tabulate(node, dims, (at) =>
    elementAt(
      x!,
      at.map((c, i) => start[i]! + c * stride[i]!),
    ),
  );
};

const pad: Evaluate<"pad"> = (node, [x, value], dims) => {
  const low = node.attrs.low.map((d) => evaluateDim(d, dims));
  const interior = node.attrs.interior;
  return tabulate(node, dims, (at) => {
    const from = at.map((c, i) => (c - low[i]!) / (interior[i]! + 1));
    return inside(x!.shape, from) ? elementAt(x!, from) : value!.data[0]!;
  });
};

const concat: Evaluate<"concat"> = (node, operands, dims) => {
  const axis = node.attrs.axis;
  return tabulate(node, dims, (at) => {
    let [i, c] = [0, at[axis]!];
    while (c >= operands[i]!.shape[axis]!) c -= operands[i++]!.shape[axis]!;
    return elementAt(
      operands[i]!,
      at.map((v, k) => (k === axis ? c : v)),
    );
  });
};

const windows: Evaluate<"windows"> = (node, [x], dims) => {
  const [stride, dilation] = [node.attrs.stride, node.attrs.dilation];
  const lead = x!.shape.length - stride.length;
  return tabulate(node, dims, (at) =>
    elementAt(
      x!,
      x!.shape.map((_, k) => {
        const i = k - lead;
        if (i < 0) return at[k]!;
        return at[k]! * stride[i]! + at[k + stride.length]! * dilation[i]!;
      }),
    ),
  );
};

export const movements = {
  transpose,
  broadcastInDim,
  reverse,
  reshape,
  slice,
  pad,
  concat,
  windows,
};
