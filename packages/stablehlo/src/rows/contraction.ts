/**
 * Products. Precision is stated, since an engine's default may be less than f32; products of halves are added up in f32 and
 * rounded once.
 */
import { type Dim, isHalf } from "@kiln-ml/ir";
import { listOf, type Row, type Rows, range } from "../row.ts";
import { int, ints, numbers, pairs, type Type } from "../text.ts";

const precision = "[#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]";

const summed = (type: Type): Type => (isHalf(type.dtype) ? { ...type, dtype: "f32" } : type);

const dotGeneral: Row = ({ b, node, type }, lhs, rhs) => {
  const axes = (name: string) => listOf(node.attrs[name]);
  const attributes = {
    dot_dimension_numbers: numbers("dot", {
      lhs_batching_dimensions: axes("lhsBatch"),
      rhs_batching_dimensions: axes("rhsBatch"),
      lhs_contracting_dimensions: axes("lhsContract"),
      rhs_contracting_dimensions: axes("rhsContract"),
    }),
    precision_config: precision,
  };
  return b.convert(b.op("dot_general", [lhs!, rhs!], summed(type), attributes), type.dtype);
};

const convolution: Row = ({ b, node, type, dim }, x, w) => {
  const { attrs } = node;
  const spatial = range(listOf(attrs.stride).length).join(", ");
  const [low, high] = [attrs.low, attrs.high].map((d) => (d as readonly Dim[]).map(dim));
  const attributes = {
    window_strides: ints(listOf(attrs.stride)),
    padding: pairs(low!.map((l, i) => [l, high![i]!])),
    lhs_dilation: ints(listOf(attrs.lhsDilation)),
    rhs_dilation: ints(listOf(attrs.rhsDilation)),
    dimension_numbers: `#stablehlo.conv<[b, f, ${spatial}]x[o, i, ${spatial}]->[b, f, ${spatial}]>`,
    feature_group_count: int(attrs.groups as number),
    batch_group_count: int(1),
    precision_config: precision,
  };
  return b.convert(b.op("convolution", [x!, w!], summed(type), attributes), type.dtype);
};

export const contractions: Rows = { dotGeneral, convolution };
