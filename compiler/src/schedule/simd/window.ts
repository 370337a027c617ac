/**
 * A depthwise convolution, in which each channel has a kernel of its own: a plane at a time, each
 * result the sum of its window, four neighbours at a time.
 *
 * Why this shape: there is one term of depth a channel, so that a panel would be used for one line
 * of the result and packing would cost as much as the product. The weights of a plane (at most 49)
 * are loaded once and stay in registers or L1, and neighbouring results read neighbouring inputs.
 */
import { isStatic, maxOfDim } from "@kiln-ml/ir";
import { type Loop, makeLoop } from "../../fuse/group.ts";
import { constant, ref } from "../../kernel/expr.ts";
import type { Stmt } from "../../kernel/kernel.ts";
import type { Rename } from "../../kernel/map.ts";
import { indexName } from "../../kernel/names.ts";
import { type LoweringContext, openBlock } from "../../lower/context.ts";
import { decode, nest, renamed, totalOf } from "../../lower/loops.ts";
import { windows } from "../../machine/wasm.ts";
import { isAffine } from "./affine.ts";
import type { Sides } from "./contraction.ts";
import { privatePlane } from "./operand.ts";
import { results } from "./tile.ts";
import { dtypeOf } from "./work-items.ts";

export function windowPhases(
  context: LoweringContext,
  { rows, columns }: Sides,
): Stmt[][] | undefined {
  const c = context.group.contraction!;
  const taps = totalOf(c.k);
  if (context.group.anchor!.op !== "convolution" || rows.which !== "a" || rows.total !== 1)
    return undefined;
  if (c.k[0]!.extent !== 1 || !isStatic(taps) || taps > windows.mostTaps || taps === 0)
    return undefined;
  const places = c.n.filter((l) => isPlace(l) && l.extent !== 1);
  const row = places.at(-1);
  if (!row || row !== columns.innermost || maxOfDim(row.extent) < windows.leastRow)
    return undefined;
  const planes = [...c.batch, ...c.n.filter((l) => !isPlace(l))].filter((l) => l.extent !== 1);
  const plane = privatePlane(context);
  const unit = makeLoop("unit", totalOf(planes));
  return [
    nest([unit], "parallel", [
      ...(plane ? [plane.array] : []),
      ...decode(planes, unit.at),
      ...(plane?.fill ?? []),
      ...sums(context, places, plane?.value),
    ]),
  ];
}

const isPlace = (l: Loop): boolean =>
  /^y\d+$/.test(l.name.slice(0, -1)) && l.name === indexName(l.name);

/** The numbers that the loops of the taps take, tap by tap. */
function tapsOf(loops: readonly Loop[]): Rename[] {
  let out: Rename[] = [new Map()];
  for (const l of loops)
    out = out.flatMap((r) =>
      Array.from({ length: l.extent as number }, (_, i) => new Map([...r, [l.name, i] as const])),
    );
  return out;
}

type ValueOf = NonNullable<ReturnType<typeof privatePlane>>["value"];

/** The results of one plane. */
function sums(
  context: LoweringContext,
  places: readonly Loop[],
  planeValue: ValueOf | undefined,
): Stmt[] {
  const { a, b, k } = context.group.contraction!;
  const dtype = dtypeOf(context);
  const value: ValueOf =
    planeValue ?? ((block, rename) => block.at(b.operand, renamed(b.coords, rename)));
  const taps = tapsOf(k);
  const weights = openBlock(context);
  const lets = taps.map((tap, i): Stmt => {
    return { kind: "let", name: `w${i}`, value: weights.at(a.operand, renamed(a.coords, tap)) };
  });
  const inner = openBlock(context);
  const products = taps.map((tap, i): Stmt => {
    return { kind: "fma", name: "sum", a: ref(`w${i}`, dtype), b: value(inner, tap) };
  });
  const body: Stmt[] = [
    { kind: "acc", name: "sum", dtype, init: constant(dtype, 0), widened: false },
    ...inner.body,
    ...products,
    ...results(context, new Map(), ref("sum", dtype)),
  ];
  const row = places.at(-1)!;
  const lane = isAffine(body, row.name) ? "simd" : "serial";
  return [
    ...weights.body,
    ...lets,
    ...nest(places.slice(0, -1), "serial", nest([row], lane, body)),
  ];
}
