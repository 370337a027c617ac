/**
 * Reads dotGeneral and convolution as one thing: a sum over loops k of a·b, where each loop of the
 * result belongs to a (m), to b (n), or to both (batch). That makes every convolution and both of
 * its gradients an implicit matrix product. Chooses no tiles.
 */
import {
  addDim,
  type Condition,
  collectSymbols,
  type Dim,
  floorDiv,
  isOp,
  modDim,
  mulDim,
  type NodeOf,
  opOf,
  subDim,
  type Tensor,
} from "@kiln-ml/ir";
import { simplifyConditions } from "../access.ts";
import { isAtLeast0, isBelow } from "../kernel/conditions.ts";
import { type Contraction, type ContractionOperand, type Loop, makeLoop } from "./group.ts";

/**
 * Products with so few lines on one side are no matter of tiles where a target has many units: the
 * other side is read once, so memory decides. What splits sums, or runs them along, must know it
 * too.
 */
export const skinnyLines = 8;

interface Reading {
  readonly loops: readonly Loop[];
  readonly k: readonly Loop[];
  readonly coords: readonly Dim[];
  readonly a: ContractionOperand;
  readonly b: ContractionOperand;
}

/** The loops of a contraction and the coordinates of its result in them. */
export function readContraction(t: Tensor): { contraction: Contraction; coords: readonly Dim[] } {
  const r = isOp(t, "convolution") ? readConvolution(t) : readDot(opOf(t, "dotGeneral"));
  const uses = (o: ContractionOperand) => {
    const symbols = new Map();
    for (const c of o.coords) collectSymbols(c, symbols);
    for (const c of o.when) collectSymbols(c.value, symbols);
    return symbols;
  };
  const [inA, inB] = [uses(r.a), uses(r.b)];
  const pick = (a: boolean, b: boolean) =>
    r.loops.filter((l) => inA.has(l.name) === a && inB.has(l.name) === b);
  // A loop that neither operand depends on has extent 1; it may run anywhere.
  const m = [...pick(true, false), ...pick(false, false)];
  const contraction = { m, n: pick(false, true), batch: pick(true, true), k: r.k, a: r.a, b: r.b };
  return { contraction, coords: r.coords };
}

function readDot(t: NodeOf<"dotGeneral">): Reading {
  const [lhs, rhs] = [t.operands[0]!, t.operands[1]!];
  const { lhsBatch, rhsBatch, lhsContract, rhsContract } = t.attrs;
  const loops = t.shape.map((d, i) => makeLoop(`i${i}`, d));
  const k = lhsContract.map((axis, i) => makeLoop(`k${i}`, lhs.shape[axis]!));
  let next = lhsBatch.length;
  const coordsOf = (x: Tensor, batch: readonly number[], contract: readonly number[]) =>
    x.shape.map((_, axis) => {
      const [b, c] = [batch.indexOf(axis), contract.indexOf(axis)];
      if (b >= 0) return loops[b]!.at;
      return c >= 0 ? k[c]!.at : loops[next++]!.at;
    });
  const a = { operand: lhs, coords: coordsOf(lhs, lhsBatch, lhsContract), when: [] };
  const b = { operand: rhs, coords: coordsOf(rhs, rhsBatch, rhsContract), when: [] };
  return { loops, k, coords: loops.map((l) => l.at), a, b };
}

function readConvolution(t: NodeOf<"convolution">): Reading {
  const [x, w] = [t.operands[0]!, t.operands[1]!];
  const { stride, low, lhsDilation, rhsDilation, groups } = t.attrs;
  const features = floorDiv(t.shape[1]!, groups);
  const batch = makeLoop("n", t.shape[0]!);
  const group = makeLoop("g", groups);
  const feature = makeLoop("f", features);
  const place = t.shape.slice(2).map((d, i) => makeLoop(`y${i}`, d));
  const channel = makeLoop("c", w.shape[1]!);
  const tap = w.shape.slice(2).map((d, i) => makeLoop(`t${i}`, d));
  const out = addDim(mulDim(groups === 1 ? 0 : group.at, features), feature.at);
  const when: Condition[] = [];
  const at = place.map((p, i) => {
    // Place in the dilated and padded input; a real element stands at multiples of the dilation
    // only.
    const q = subDim(
      addDim(mulDim(p.at, stride[i]!), mulDim(tap[i]!.at, rhsDilation[i]!)),
      low[i]!,
    );
    const d = lhsDilation[i]!;
    if (d > 1) when.push({ value: modDim(q, d), test: "zero" });
    const inside = floorDiv(q, d);
    when.push(isAtLeast0(q), isBelow(inside, x.shape[i + 2]!));
    return inside;
  });
  const input = addDim(mulDim(groups === 1 ? 0 : group.at, w.shape[1]!), channel.at);
  return {
    loops: [batch, ...(groups === 1 ? [] : [group]), feature, ...place],
    k: [channel, ...tap],
    coords: [batch.at, out, ...place.map((p) => p.at)],
    a: { operand: w, coords: [out, channel.at, ...tap.map((l) => l.at)], when: [] },
    b: { operand: x, coords: [batch.at, input, ...at], when: simplifyConditions(when) ?? when },
  };
}
