/**
 * Accumulators: one value in all lanes, or in a vector a value of its own in each lane. argMax and
 * argMin keep the extreme beside the position. Those of a simd loop are in `partial.ts`.
 */
import { bug, type Dtype, isFloat } from "@kiln-ml/ir";
import type { Of } from "../../kernel/kernel.ts";
import { bestOf, isArg } from "../../kernel/uses.ts";
import { type Code, localOf, op, set } from "./code.ts";
import { indexValue } from "./language.ts";
import { seeInLanes, takeInLanes } from "./partial.ts";
import { bind, newLocal, type Printer, typeOf } from "./printer.ts";
import { combined, takeBetter, worst } from "./reducers.ts";

/** Declares an accumulator in the present block and binds its name. */
export function declare(p: Printer, name: string, dtype: Dtype, init: Code): void {
  const { e } = p;
  e.bindName(name, newLocal(p, name, typeOf(dtype), init));
  const { reducer, fed } = e.facts.accs.get(name)!;
  if (!isArg(reducer)) return;
  const best = newLocal(p, `${name}Best`, typeOf(fed!), worst(reducer!, fed!));
  e.bindName(bestOf(name), best);
}

/** Into the accumulator itself, or into what the open simd loop keeps of it in its lanes. */
export function printAccumulate(p: Printer, s: Of<"accumulate">): void {
  const { e } = p;
  const value = e.text(s.value);
  const partial = p.partials.get(s.name);
  if (isArg(s.reducer)) {
    if (s.position === undefined) bug("emit", `${s.reducer} of ${s.name} has no position`);
    const fed = s.value.dtype;
    const v = bind(p, typeOf(fed), value);
    if (partial) {
      takeInLanes(p, partial, v, s.position);
      return;
    }
    const at = bind(p, "v128", indexValue(p, s.position));
    takeBetter(p, s.reducer, s.name, fed, v, at, false);
    return;
  }
  if (partial && partial.values.length > 1) {
    seeInLanes(p, partial, bind(p, "v128", value));
    return;
  }
  const acc = e.find(s.name).text;
  const { dtype } = e.facts.accs.get(s.name)!;
  e.line(set(localOf(acc), combined(s.reducer, dtype, acc, value)));
}

export function printFma(p: Printer, s: Of<"fma">): void {
  const { e } = p;
  const { dtype } = e.facts.accs.get(s.name)!;
  const [a, b] = [e.text(s.a), e.text(s.b)];
  const acc = e.find(s.name).text;
  const value =
    dtype === "f64"
      ? op("f64.add", acc, op("f64.mul", a, b))
      : isFloat(dtype)
        ? op("f32x4.madd", a, b, acc)
        : combined("sum", dtype, acc, op("i32x4.mul", a, b));
  e.line(set(localOf(acc), value));
}
