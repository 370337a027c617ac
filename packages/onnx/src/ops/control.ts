/**
 * If, Loop and Scan. What is known during import is taken or unrolled.
 */
import { constant, type Dim, isStatic, reshape, sliceAxis, stack, type Tensor } from "@kiln-ml/ir";
import type { NodeContext } from "../context.ts";
import type { GraphDef } from "../proto/model.ts";
import { type Row, row } from "../row.ts";
import { asTensorValue, type TensorValue, typed, type Value } from "../value.ts";

/** The branch of the known condition. */
function branch(n: NodeContext): Value[] {
  const taken = n.number(0) ? "then_branch" : "else_branch";
  return n.run(n.graph(taken), []);
}

const one = (n: NodeContext, values: readonly Dim[], what: string): number => {
  const [v] = values;
  return values.length === 1 && isStatic(v!) ? v : n.fail(`${what} must be one number`);
};

/** Trip by trip, until the count is reached or the condition is false. */
function loop(n: NodeContext): Value[] {
  const body = n.graph("body");
  const limit = n.has(0) ? n.number(0) : Infinity;
  let going = n.has(1) ? n.number(1) !== 0 : true;
  const carries = body.inputs.length - 2;
  let state: Value[] = Array.from({ length: carries }, (_, i) => n.value(i + 2));
  const scans: TensorValue[][] = body.outputs.slice(1 + carries).map(() => []);
  for (let trip = 0; trip < limit && going; trip++) {
    const results = n.run(body, [
      typed(constant(trip, "i32"), "int64"),
      typed(constant(true, "bool"), "bool"),
      ...state,
    ]);
    state = results.slice(1, 1 + carries);
    for (const [k, list] of scans.entries())
      list.push(asTensorValue(results[1 + carries + k]!, `scan output ${k}`));
    const more = asTensorValue(results[0]!, "the condition");
    going = one(n, n.knownOf(more, `condition after trip ${trip}`), "the condition") !== 0;
  }
  return [...state, ...scans.map((list, k) => stacked(n, list, body, 1 + carries + k, 0))];
}

/** The values of all trips along a new axis. */
function stacked(
  n: NodeContext,
  list: readonly TensorValue[],
  body: GraphDef,
  output: number,
  axis: number,
): TensorValue {
  const first = list[0];
  if (!first)
    return n.fail(`output ${body.outputs[output]?.name} of no trip has no shape that is known`);
  return typed(
    stack(
      list.map((v) => v.tensor),
      axis,
    ),
    first.type,
  );
}

/** The slices of scan inputs step by step; opset 8 has a batch axis and lengths in front. */
function scan(n: NodeContext): Value[] {
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
  const ys = outs.map((list, i) => {
    const ordered = how.outputBackward[i] ? [...list].reverse() : list;
    return stacked(n, ordered, body, states.length + i, how.outputAxes[i] ?? 0);
  });
  return [...state, ...ys];
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
  row("Scan", scan, { note: "opset 8: sequence_lens" }),
];
