/**
 * If, Loop and Scan. A branch or a count that is known is taken; else they become control flow of the IR, if types and shapes allow, and
 * are unrolled if not, one value at a time demanded.
 */
import {
  cond,
  constant,
  type Dim,
  isStatic,
  reshape,
  reverse,
  scan,
  sliceAxis,
  stack,
  type Tensor,
  transpose,
  whileLoop,
  zeros,
} from "@kiln-ml/ir";
import type { NodeContext } from "../context.ts";
import { type Check, checksOf, codeOf } from "../overflow.ts";
import type { GraphDef } from "../proto/model.ts";
import { type Row, row } from "../row.ts";
import { asTensorValue, type TensorValue, typed, type Value } from "../value.ts";

const tensorsOf = (values: readonly Value[]): Tensor[] =>
  values.map((v, i) => asTensorValue(v, `result ${i}`).tensor);
const retyped = (tensors: readonly Tensor[], like: readonly Value[]): Value[] =>
  tensors.map((t, i) => typed(t, asTensorValue(like[i]!, `result ${i}`).type));

/**
 * The branch of a condition that is known; else both, and the run chooses. Where the branches differ in type or shape, the condition
 * must be known.
 */
function branch(n: NodeContext): Value[] {
  const [yes, no] = [n.graph("then_branch"), n.graph("else_branch")];
  if (!n.peek(n.typed(0))) {
    const both = n.attempt(() => {
      let first: Body | undefined;
      let second: Body | undefined;
      const results = cond(
        reshape(n.tensor(0), []),
        () => {
          first = bodyOf(n, yes, []);
          return [...tensorsOf(first.results), codeOf(first.checks)];
        },
        () => {
          second = bodyOf(n, no, []);
          return [...tensorsOf(second.results), codeOf(second.checks, 1 + first!.checks.length)];
        },
      );
      n.check(checksOf([...first!.checks, ...second!.checks], results.pop()!));
      return retyped(results, first!.results);
    });
    if (both) return both;
  }
  return n.run(n.number(0) ? yes : no, []);
}

/** A subgraph as a region: its results, and the checks that only the region can compute. */
interface Body {
  readonly results: readonly Value[];
  readonly checks: readonly Check[];
}

function bodyOf(n: NodeContext, graph: GraphDef, inputs: readonly Value[]): Body {
  const { value, checks } = n.apart(() => n.run(graph, inputs));
  return { results: value, checks };
}

const one = (n: NodeContext, values: readonly Dim[], what: string): number => {
  const [v] = values;
  return values.length === 1 && isStatic(v!) ? v : n.fail(`${what} must be one number`);
};

/** Trips that are written out one by one; more are a loop, where the body allows it. */
const fewTrips = 4;

const always = constant(true, "bool");

function loop(n: NodeContext): Value[] {
  const limit = n.has(0) ? n.peek(n.typed(0)) : [Infinity];
  const starts = n.has(1) ? n.peek(n.typed(1)) : [1];
  const few = limit && isStatic(limit[0]!) && limit[0] <= fewTrips;
  const looped = few ? undefined : (counted(n, limit, starts) ?? conditional(n));
  return looped ?? unrolled(n);
}

/** A loop whose number of trips is known and whose condition stays true: a scan. */
function counted(
  n: NodeContext,
  limit: readonly Dim[] | undefined,
  starts: readonly Dim[] | undefined,
): Value[] | undefined {
  const length = limit?.[0];
  if (length === undefined || length === Infinity || starts?.[0] !== 1) return undefined;
  return n.attempt(() => {
    const body = n.graph("body");
    const carries = body.inputs.length - 2;
    const given = Array.from({ length: carries }, (_, i) => n.typed(i + 2));
    let last: Body | undefined;
    const { carry, ys } = scan(
      given.map((v) => v.tensor),
      [],
      (state, _x, trip) => {
        const inputs = [typed(trip, "int64"), typed(always, "bool"), ...retyped(state, given)];
        last = bodyOf(n, body, inputs);
        const more = n.peek(asTensorValue(last.results[0]!, "the condition"));
        if (more?.[0] !== 1) n.fail("the condition may end the loop");
        const results = tensorsOf(last.results);
        const codes = codeOf(last.checks);
        return { carry: results.slice(1, 1 + carries), ys: [...results.slice(1 + carries), codes] };
      },
      { length },
    );
    n.check(checksOf(last!.checks, ys.pop()!));
    return retyped([...carry, ...ys], last!.results.slice(1));
  });
}

/** A loop that ends when the run says so, and collects nothing on the way. */
function conditional(n: NodeContext): Value[] | undefined {
  const body = n.graph("body");
  const carries = body.inputs.length - 2;
  if (body.outputs.length > 1 + carries) return undefined;
  return n.attempt(() => {
    const given = Array.from({ length: carries }, (_, i) => n.typed(i + 2));
    const limit = n.has(0) ? reshape(n.tensor(0), []) : undefined;
    const going = n.has(1) ? reshape(n.tensor(1), []) : always;
    let last: Body | undefined;
    // It ends where a number does not fit: what would end it may be that number.
    const results = whileLoop(
      [constant(0, "i32"), constant(0, "i32"), going, ...given.map((v) => v.tensor)],
      (code, trip, on) => {
        const goes = on!.and(code!.equal(0));
        return limit ? goes.and(trip!.less(limit)) : goes;
      },
      (_code, trip, on, ...state) => {
        const inputs = [typed(trip!, "int64"), typed(on!, "bool"), ...retyped(state, given)];
        last = bodyOf(n, body, inputs);
        const [more, ...next] = tensorsOf(last.results);
        return [codeOf(last.checks), trip!.add(1), reshape(more!, []), ...next];
      },
    );
    n.check(checksOf(last!.checks, results[0]!));
    return retyped(results.slice(3), given);
  });
}

/** Trip by trip, until the count is reached or the condition is false. */
function unrolled(n: NodeContext): Value[] {
  const body = n.graph("body");
  const limit = n.has(0) ? n.number(0) : Infinity;
  let going = n.has(1) ? n.number(1) !== 0 : true;
  const carries = body.inputs.length - 2;
  let state: Value[] = Array.from({ length: carries }, (_, i) => n.value(i + 2));
  const scans: TensorValue[][] = body.outputs.slice(1 + carries).map(() => []);
  for (let trip = 0; trip < limit && going; trip++) {
    const results = n.run(body, [
      typed(constant(trip, "i32"), "int64"),
      typed(always, "bool"),
      ...state,
    ]);
    state = results.slice(1, 1 + carries);
    for (const [k, list] of scans.entries())
      list.push(asTensorValue(results[1 + carries + k]!, `scan output ${k}`));
    const more = asTensorValue(results[0]!, "the condition");
    going = one(n, n.knownOf(more, `condition after trip ${trip}`), "the condition") !== 0;
  }
  const once = () =>
    n.run(body, [typed(constant(0, "i32"), "int64"), typed(always, "bool"), ...state]);
  return [...state, ...scans.map((list, k) => stacked(n, list, once, 1 + carries + k, 0))];
}

/** The values of all trips along a new axis; of no trip, none of the shape that `once` would give. */
function stacked(
  n: NodeContext,
  list: readonly TensorValue[],
  once: () => readonly Value[],
  output: number,
  axis: number,
): TensorValue {
  const first = list[0];
  if (!first) {
    // Nothing of it is run, and so nothing checked.
    const shown = () => asTensorValue(n.apart(once).value[output]!, `scan output ${output}`);
    const one = n.attempt(shown);
    if (!one)
      return n.fail(`output ${output} of the body has no shape that is known without a trip`);
    const shape = [...one.tensor.shape];
    shape.splice(axis < 0 ? axis + shape.length + 1 : axis, 0, 0);
    return typed(zeros(shape, one.tensor.dtype), one.type);
  }
  return typed(
    stack(
      list.map((v) => v.tensor),
      axis,
    ),
    first.type,
  );
}

/** The slices of scan inputs step by step; opset 8 has a batch axis and lengths in front. */
function scanRow(n: NodeContext): Value[] {
  if (n.opset < 9) return scanBatches(n);
  const count = n.int("num_scan_inputs");
  const inputs = Array.from({ length: n.count }, (_, i) => n.typed(i));
  const states = inputs.slice(0, inputs.length - count);
  const xs = inputs.slice(inputs.length - count);
  return scanned(n, states, xs, {
    inputAxes: n.ints(
      "scan_input_axes",
      xs.map(() => 0),
    ),
    inputBackward: n.ints(
      "scan_input_directions",
      xs.map(() => 0),
    ),
    outputAxes: n.ints("scan_output_axes", []),
    outputBackward: n.ints("scan_output_directions", []),
  });
}

interface Directions {
  readonly inputAxes: readonly number[];
  readonly inputBackward: readonly number[];
  readonly outputAxes: readonly number[];
  readonly outputBackward: readonly number[];
}

const axisOf = (t: Tensor, axis: number): number => (axis < 0 ? axis + t.rank : axis);

function scanned(
  n: NodeContext,
  states: readonly Value[],
  xs: readonly TensorValue[],
  how: Directions,
): Value[] {
  const body = n.graph("body");
  const axes = xs.map((x, i) => axisOf(x.tensor, how.inputAxes[i] ?? 0));
  const length = xs[0]!.tensor.shape[axes[0]!]!;
  if (!isStatic(length) || length > fewTrips) {
    const looped = n.attempt(() => scanLoop(n, states, xs, axes, how));
    if (looped) return looped;
  }
  if (!isStatic(length)) return n.fail("the number of steps must be known");
  let state = [...states];
  const outs: TensorValue[][] = body.outputs.slice(states.length).map(() => []);
  for (let k = 0; k < length; k++) {
    const slices = xs.map((x, i) => {
      const at = how.inputBackward[i] ? length - 1 - k : k;
      const axis = axes[i]!;
      const cut = sliceAxis(x.tensor, axis, at, at + 1);
      return typed(
        reshape(
          cut,
          cut.shape.filter((_, a) => a !== axis),
        ),
        x.type,
      );
    });
    const results = n.run(body, [...state, ...slices]);
    state = results.slice(0, states.length);
    for (const [i, list] of outs.entries())
      list.push(asTensorValue(results[states.length + i]!, `scan output ${i}`));
  }
  const once = () => {
    const slices = xs.map((x, i) => {
      const shape = x.tensor.shape.filter((_, a) => a !== axes[i]);
      return typed(zeros(shape, x.tensor.dtype), x.type);
    });
    return n.run(body, [...state, ...slices]);
  };
  const ys = outs.map((list, i) => {
    const ordered = how.outputBackward[i] ? [...list].reverse() : list;
    return stacked(n, ordered, once, states.length + i, how.outputAxes[i] ?? 0);
  });
  return [...state, ...ys];
}

/** As one scan: axes are moved to the front, and backward ones turned round. */
function scanLoop(
  n: NodeContext,
  states: readonly Value[],
  xs: readonly TensorValue[],
  axes: readonly number[],
  how: Directions,
): Value[] {
  const body = n.graph("body");
  const ahead = xs.map((x, i) => {
    const t = moveAxis(x.tensor, axes[i]!, 0);
    return how.inputBackward[i] ? reverse(t, 0) : t;
  });
  let last: Body | undefined;
  const { carry, ys } = scan(tensorsOf(states), ahead, (state, slices) => {
    last = bodyOf(n, body, [...retyped(state, states), ...retyped(slices, xs)]);
    const results = tensorsOf(last.results);
    const codes = codeOf(last.checks);
    return { carry: results.slice(0, states.length), ys: [...results.slice(states.length), codes] };
  });
  n.check(checksOf(last!.checks, ys.pop()!));
  const outs = ys.map((y, i) => {
    const t = how.outputBackward[i] ? reverse(y, 0) : y;
    return moveAxis(t, 0, axisOf(t, how.outputAxes[i] ?? 0));
  });
  return retyped([...carry, ...outs], last!.results);
}

function moveAxis(t: Tensor, from: number, to: number): Tensor {
  if (from === to) return t;
  const perm = t.shape.map((_, a) => a).filter((a) => a !== from);
  perm.splice(to, 0, from);
  return transpose(t, perm);
}

/** Each sequence of the batch by itself. */
function scanBatches(n: NodeContext): Value[] {
  const count = n.int("num_scan_inputs");
  if (n.has(0)) return n.fail("sequence_lens is not supported");
  const inputs = Array.from({ length: n.count - 1 }, (_, i) => n.typed(i + 1));
  const backward = n.ints("directions", []);
  const batch = inputs[0]!.tensor.shape[0]!;
  if (!isStatic(batch)) return n.fail("the batch must be known");
  const of = (v: TensorValue, b: number) =>
    typed(reshape(sliceAxis(v.tensor, 0, b, b + 1), v.tensor.shape.slice(1)), v.type);
  const rows = Array.from({ length: batch }, (_, b) => {
    const mine = inputs.map((v) => of(v, b));
    const xs = mine.slice(mine.length - count);
    return scanned(n, mine.slice(0, mine.length - count), xs, {
      inputAxes: xs.map(() => 0),
      inputBackward: backward,
      outputAxes: [],
      outputBackward: [],
    });
  });
  return rows[0]!.map((_, k) => {
    const values = rows.map((r) => asTensorValue(r[k]!, `output ${k}`));
    return typed(stack(values.map((v) => v.tensor)), values[0]!.type);
  });
}

export const controlRows: readonly Row[] = [
  row("If", branch),
  row("Loop", loop),
  row("Scan", scanRow, { note: "opset 8: sequence_lens" }),
];
