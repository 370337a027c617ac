/**
 * Reference values of dotGeneral and convolution: sums of products in double precision, in row-major order.
 */
import { evaluateDim } from "../dim-evaluate.ts";
import { factorCoords } from "../ops/loops.ts";
import type { Evaluate } from "./value.ts";
import { coordinates, elementAt, inside, multiply, plus, tabulate } from "./walk.ts";

const dotGeneral: Evaluate<"dotGeneral"> = (node, [lhs, rhs], dims) => {
  const d = node.attrs;
  const extents = d.lhsContract.map((a) => lhs!.shape[a]!);
  return tabulate(node, dims, (at) => {
    let sum = 0;
    for (const k of coordinates(extents)) {
      const [a, b] = factorCoords(lhs!.shape.length, rhs!.shape.length, d, at, k);
      sum = plus(node.dtype, sum, multiply(node.dtype, elementAt(lhs!, a), elementAt(rhs!, b)));
    }
    return sum;
  });
};

const convolution: Evaluate<"convolution"> = (node, [x, w], dims) => {
  const [stride, lhsDilation, rhsDilation] = [
    node.attrs.stride,
    node.attrs.lhsDilation,
    node.attrs.rhsDilation,
  ];
  const low = node.attrs.low.map((d) => evaluateDim(d, dims));
  const perGroup = w!.shape[0]! / node.attrs.groups;
  return tabulate(node, dims, ([n, o, ...at]) => {
    let sum = 0;
    for (const [c, ...k] of coordinates(w!.shape.slice(1))) {
      const from = at.map(
        (t, i) => (t * stride[i]! + k[i]! * rhsDilation[i]! - low[i]!) / lhsDilation[i]!,
      );
      const source = [n!, Math.floor(o! / perGroup) * w!.shape[1]! + c!, ...from];
      // What lies around the elements and between them is 0, and a product with it may be NaN.
      const element = inside(x!.shape, source) ? elementAt(x!, source) : 0;
      sum = plus(node.dtype, sum, multiply(node.dtype, element, elementAt(w!, [o!, c!, ...k])));
    }
    return sum;
  });
};

export const contractions = { dotGeneral, convolution };
