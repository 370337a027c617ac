/**
 * Where in a tensor a fault is that `check` has found: outputs of a program that looks for the first element at fault, and what they
 * say. Compiled and run only where there is a fault.
 */
import { concat, type Dim, dimValue, isFloat, isHalf, isInteger, type Tensor } from "@kiln-ml/ir";

/** A tensor with the elements that are at fault, and others whose elements in the same place tell why. */
export interface Suspect {
  readonly of: Tensor;
  readonly bad: Tensor;
  readonly because: readonly Tensor[];
  /** Of an index that was made a place: what one below 0 had added. */
  readonly added?: Dim;
}

const flat = (t: Tensor): Tensor => t.reshape([-1]);
const number = (d: Dim): Tensor => flat(dimValue(d).convert("i32"));

/** Extents, the first place at fault and whether it is; the values there, the tensor's first. */
export function lookedAt({ of, bad, because, added = 0 }: Suspect): Tensor[] {
  const faults = flat(bad.convert("i32"));
  const place = faults.argMax(0);
  const values = [of, ...because].map((t) =>
    flat(isHalf(t.dtype) ? t.convert("f32") : t).take(place),
  );
  const extents = [...of.shape, added].map(number);
  return [concat([...extents, flat(place), flat(faults.max())], 0), ...values.map(flat)];
}

/** "element [1,0] of [2,3] is −∞, of 0", by the numbers of `lookedAt`; undefined if nothing is at fault. */
export function placeTold([where, ...values]: readonly (readonly number[])[]): string | undefined {
  const shape = where!.slice(0, -3);
  const [added, place, found] = where!.slice(-3) as [number, number, number];
  if (!found) return undefined;
  const [value, ...because] = values.map((v) => v[0]!) as [number, ...number[]];
  const given = value < 0 ? value - added : value;
  const why = because.length > 0 ? `, of ${because.map(text).join(" and ")}` : "";
  return `element [${coordsAt(place, shape)}] of [${shape}] is ${text(given)}${why}`;
}

function coordsAt(place: number, shape: readonly number[]): number[] {
  let rest = place;
  const coords = [...shape].reverse().map((n) => {
    const at = rest % n;
    rest = (rest - at) / n;
    return at;
  });
  return coords.reverse();
}

const text = (v: number): string => String(v).replace("-", "−").replace("Infinity", "∞");

/** What is not finite of a tensor; of operands of its shape it is told what they were. */
export function notFiniteIn(t: Tensor, isLeaf: boolean): Suspect {
  if (isLeaf) return { of: t, bad: t.isNan(), because: [] };
  const alike = t.operands.filter((x) => isFloat(x.dtype) && x.shape.join() === t.shape.join());
  const because = t.op === "select" ? [] : alike;
  const clean = because.reduce((bad, x) => bad.and(x.isFinite()), t.isFinite().not());
  return { of: t, bad: clean, because };
}

/** One index of a gather or a scatter, where it is outside of its axis. */
export function outsideIn(index: Tensor, extent: Dim): Suspect {
  const of = index.convert("i32");
  const bad = of.less(0).or(of.greaterEqual(dimValue(extent)));
  return { of, bad, because: [], added: extent };
}

/** The integers that a test was made of, where it does not hold; undefined if there are none of its shape. */
export function failedIn(t: Tensor, some: boolean): Suspect | undefined {
  const bad = some ? t.any(-1).not() : t.not();
  const of = integersUnder(t, bad.shape.join());
  return of && { of, bad, because: [] };
}

function integersUnder(t: Tensor, shape: string): Tensor | undefined {
  if (isInteger(t.dtype) && t.op !== "constant" && t.op !== "iota" && t.shape.join() === shape)
    return t;
  for (const x of t.operands) {
    const found = integersUnder(x, shape);
    if (found) return found;
  }
  return undefined;
}
