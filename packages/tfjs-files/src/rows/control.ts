/**
 * Control flow: branches and loops whose bodies are functions of the library, and calls of such. A
 * condition that is known is taken; else it becomes control flow of the IR, if types and shapes
 * allow, and a loop is written out trip by trip if not.
 */

import type { Tensor } from "@kiln-ml/ir";
import * as ir from "@kiln-ml/ir";
import { asTensorValue, type NodeContext, type Row, type Value } from "@kiln-ml/onnx";
import { asBool, range } from "./operand.ts";
import { alike, asValue } from "./row.ts";

const argumentsOf = (n: NodeContext, from: number): Value[] =>
  range(n.count - from).map((i) => n.value(from + i));

const tensorsOf = (values: readonly Value[]): Tensor[] =>
  values.map((v, i) => asTensorValue(v, `result ${i}`).tensor);

/** Numbers are true where they are not 0. */
const flagOf = (value: Value): Tensor =>
  ir.reshape(asBool(asTensorValue(value, "the condition").tensor), []);

function branch(n: NodeContext): Value[] {
  const args = argumentsOf(n, 1);
  const [yes, no] = [n.graph("then_branch"), n.graph("else_branch")];
  const flag = asValue(flagOf(n.value(0)));
  if (!n.peek(flag)) {
    const both = n.attempt(() =>
      ir.cond(
        flag.tensor,
        () => tensorsOf(n.run(yes, args)),
        () => tensorsOf(n.run(no, args)),
      ),
    );
    if (both) return both.map(asValue);
  }
  return n.run(n.knownOf(flag, "the condition")[0] ? yes : no, args);
}

/** Trips that are written out rather than made a loop. */
const fewTrips = 4;

function loop(n: NodeContext): Value[] {
  const start = argumentsOf(n, 0);
  return fewOf(n, start) ?? looped(n, start) ?? unrolled(n, start);
}

const goesOn = (n: NodeContext, state: readonly Value[]): Tensor =>
  flagOf(n.run(n.graph("cond"), state)[0]!);

/** The state after a few trips, if it is known that there are no more. */
function fewOf(n: NodeContext, start: readonly Value[]): Value[] | undefined {
  return n.attempt(() => {
    let state: readonly Value[] = start;
    for (let trip = 0; trip <= fewTrips; trip++) {
      const more = n.peek(asValue(goesOn(n, state)));
      if (!more) return n.fail("the condition is not known");
      if (!more[0]) return [...state];
      state = n.run(n.graph("body"), state);
    }
    return n.fail("there are more trips");
  });
}

function looped(n: NodeContext, start: readonly Value[]): Value[] | undefined {
  return n.attempt(() =>
    ir
      .whileLoop(
        tensorsOf(start),
        (...state) => goesOn(n, state.map(asValue)),
        (...state) => tensorsOf(n.run(n.graph("body"), state.map(asValue))),
      )
      .map(asValue),
  );
}

function unrolled(n: NodeContext, start: readonly Value[]): Value[] {
  let state = start;
  for (let trip = 0; ; trip++) {
    const more = n.knownOf(asValue(goesOn(n, state)), `condition after trip ${trip}`);
    if (!more[0]) return [...state];
    state = n.run(n.graph("body"), state);
  }
}

export const controlRows: readonly Row[] = [
  ...alike("If StatelessIf", "then_branch else_branch", branch),
  ...alike("While StatelessWhile", "cond body parallel_iterations", loop),
  ...alike("PartitionedCall StatefulPartitionedCall", "f config config_proto executor_type", (n) =>
    n.run(n.graph("f"), argumentsOf(n, 0)),
  ),
];
