/**
 * Values of a parsed module, from the specification of StableHLO and not from Kiln's ops. No order of combining is promised, so
 * reductions go from the last element to the first; a region of a loop sees its own arguments only.
 */
import { isFloat, roundTo } from "@kiln-ml/ir";
import {
  intsIn,
  type ParsedModule,
  type ParsedOp,
  type ParsedRegion,
} from "../../packages/stablehlo/src/parse.ts";
import { type Arr, element, mapped, offset, places, scalar, sizeOf } from "./array.ts";
import { comparison, elements } from "./elementwise.ts";
import { type Combine, structural } from "./structural.ts";

type Env = Map<string, Arr>;

export class Evaluator {
  readonly #module: ParsedModule;

  constructor(module: ParsedModule) {
    this.#module = module;
  }

  /** The results of a function for these arguments. */
  call(name: string, args: readonly Arr[]): Arr[] {
    const f = this.#module.functions.get(name);
    if (!f) throw new Error(`no function ${name}`);
    const results = this.#run(f, args, new Map());
    for (const [i, r] of results.entries()) checkType(r, f.results[i]!, `${name} result ${i}`);
    return results;
  }

  #run(region: ParsedRegion, args: readonly Arr[], outer: Env): Arr[] {
    const env: Env = new Map(outer);
    for (const [i, a] of region.args.entries()) {
      checkType(args[i]!, a, a.name);
      env.set(a.name, args[i]!);
    }
    for (const op of region.ops) {
      const operands = op.operands.map((name) => {
        const value = env.get(name);
        if (!value) throw new Error(`${op.op}: ${name} is not known here`);
        return value;
      });
      for (const [i, x] of operands.entries()) checkType(x, op.operandTypes[i]!, op.operands[i]!);
      if (op.op === "stablehlo.return" || op.op === "func.return") return operands;
      const results = this.#op(op, operands, env);
      for (const [i, r] of op.results.entries()) {
        checkType(results[i]!, r, `${op.op} ${r.name}`);
        env.set(r.name, results[i]!);
      }
    }
    throw new Error("a region returns nothing");
  }

  #op(op: ParsedOp, x: readonly Arr[], env: Env): readonly Arr[] {
    const name = op.op.replace(/^stablehlo\./, "");
    const type = op.results[0]!;
    if (name === "compare") {
      const holds = comparison(op.attributes, x[0]!.dtype);
      return [mapped(type, x, holds)];
    }
    const one = elements[name];
    if (one) {
      const from = x[0]!.dtype;
      return [mapped(type, x, (...v) => one(v, from, type.dtype))];
    }
    const whole = structural[name];
    if (whole) return [whole(op, x, type, () => this.#combine(op, type.dtype))];
    switch (name) {
      // How a value lies on devices is no part of it.
      case "sdy.sharding_constraint":
        return x;
      case "func.call":
        return this.call(op.attributes.get("callee")!.slice(1), x);
      case "if":
        return this.#run(op.regions[x[0]!.data[0] ? 0 : 1]!, [], env);
      case "while":
        return this.#loop(op, x);
      case "reduce":
        return this.#reduce(op, x);
      case "sort":
        return this.#sort(op, x);
      default:
        throw new Error(`the evaluator has no ${op.op}`);
    }
  }

  #loop({ regions: [test, body] }: ParsedOp, x: readonly Arr[]): readonly Arr[] {
    let carried = x;
    while (this.#run(test!, carried, new Map())[0]!.data[0])
      carried = this.#run(body!, carried, new Map());
    return carried;
  }

  /** The op's region as a function of two scalars; floats keep their digits until they are stored. */
  #combine(op: ParsedOp, dtype: Arr["dtype"]): Combine {
    const region = op.regions[0]!;
    const [first, last] = region.ops as [ParsedOp, ParsedOp];
    const simple = region.ops.length === 2 && last.operands[0] === first.results[0]?.name;
    const f = simple ? elements[first.op.replace("stablehlo.", "")] : undefined;
    if (f)
      return (a, b) =>
        isFloat(dtype) ? f([a, b], dtype, dtype) : roundTo(dtype, f([a, b], dtype, dtype));
    return (a, b) =>
      this.#run(region, [scalar(dtype, a), scalar(dtype, b)], new Map())[0]!.data[0]!;
  }

  #reduce(op: ParsedOp, all: readonly Arr[]): Arr[] {
    const n = all.length / 2;
    const [xs, start] = [all.slice(0, n), all.slice(n)];
    const axes = intsIn(op.attributes.get("dimensions")!);
    const acc = op.results.map((r, k) =>
      new Float64Array(sizeOf(r.shape)).fill(start[k]!.data[0]!),
    );
    const combine = n === 1 ? this.#combine(op, xs[0]!.dtype) : undefined;
    for (const at of places(xs[0]!.shape).reverse()) {
      const i = offset(
        op.results[0]!.shape,
        at.filter((_, a) => !axes.includes(a)),
      );
      if (combine) acc[0]![i] = combine(acc[0]![i]!, element(xs[0]!, at));
      else {
        const args = [...acc.map((a) => a[i]!), ...xs.map((x) => element(x, at))];
        const typed = args.map((v, k) => scalar(xs[k % n]!.dtype, v));
        for (const [k, r] of this.#run(op.regions[0]!, typed, new Map()).entries())
          acc[k]![i] = r.data[0]!;
      }
    }
    return op.results.map(({ dtype, shape }, k) => ({
      dtype,
      shape,
      data: acc[k]!.map((v) => roundTo(dtype, v)),
    }));
  }

  #sort(op: ParsedOp, xs: readonly Arr[]): Arr[] {
    if (op.attributes.get("is_stable") !== "true") throw new Error("a sort that is not stable");
    const axis = intsIn(op.attributes.get("dimension")!)[0]!;
    const { shape } = xs[0]!;
    const out = xs.map((x) => ({ ...x, data: x.data.slice() }));
    const before = (i: number, j: number): boolean => {
      const pairs = xs.flatMap((x) => [scalar(x.dtype, x.data[i]!), scalar(x.dtype, x.data[j]!)]);
      return this.#run(op.regions[0]!, pairs, new Map())[0]!.data[0] === 1;
    };
    for (const at of places(shape.map((n, a) => (a === axis ? Math.min(n, 1) : n)))) {
      const line = Array.from({ length: shape[axis]! }, (_, i) =>
        offset(
          shape,
          at.map((c, a) => (a === axis ? i : c)),
        ),
      );
      const order = [...line].sort((i, j) => (before(i, j) ? -1 : before(j, i) ? 1 : 0));
      for (const [k, to] of line.entries())
        for (const [n, x] of xs.entries()) out[n]!.data[to] = x.data[order[k]!]!;
    }
    return out;
  }
}

function checkType(x: Arr, type: Pick<Arr, "dtype" | "shape">, where: string): void {
  const text = (t: Pick<Arr, "dtype" | "shape">) => `${t.dtype}[${t.shape}]`;
  if (text(x) !== text(type) || x.data.length !== sizeOf(type.shape))
    throw new Error(
      `${where}: the text says ${text(type)}, the value is ${text(x)} of ${x.data.length}`,
    );
}
