/**
 * `whileLoop`: a region run for as long as another one says so. The types of what is carried do not
 * change; how often the body runs is known only when it has run.
 */

import type { NodeOf } from "../attributes.ts";
import { isFloat } from "../dtype.ts";
import { checkOptions, GraphError, type OptionNames } from "../errors.ts";
import { checkList, kindOf } from "../kind.ts";
import { type Attrs, type Graph, Tensor } from "../node.ts";
import { defineOp, type OpRecord, type Pullback } from "../op.ts";
import { currentValue } from "../trace.ts";
import { checkTensor } from "./apply.ts";
import { cond } from "./cond.ts";
import { replaceNodes, resultsOf } from "./control.ts";
import { countingDraws } from "./draws.ts";
import {
  checkFlag,
  checkRegions,
  checkResults,
  checkTypes,
  closeOver,
  traceBody,
} from "./regions.ts";
import { scan } from "./scan.ts";
import { input } from "./source.ts";

const carriesOf = (attrs: Attrs): number => Number(attrs.carries);

function checkMaxTrips(most: unknown): void {
  if (most !== undefined && !(Number.isSafeInteger(most) && (most as number) >= 0))
    throw new GraphError(
      `whileLoop: maxTrips is ${String(most)}, not an integer from 0\n  give an integer of 0 or more, or leave it out for no bound`,
    );
}

export const whileRecord: OpRecord = defineOp({
  name: "whileLoop",
  family: "control",
  infer(operands, attrs, node) {
    if (!(node instanceof Tensor)) throw new GraphError("whileLoop: the result types are missing");
    checkMaxTrips(attrs.maxTrips);
    checkRegions("whileLoop", node.regions, 2, operands);
    const [test, body] = node.regions as [Graph, Graph];
    const init = operands.slice(0, carriesOf(attrs));
    checkFlag(
      "whileLoop",
      "the condition",
      test.results.length === 1 ? test.results[0] : undefined,
    );
    checkTypes("whileLoop", "carry", init, "the body returns", body.results);
    return checkResults("whileLoop", body.results, node);
  },
  vjpOfAll: whileVjp,
});

/** With a bound on its steps the loop is a scan whose steps do nothing once the condition fails. */
function whileVjp(
  cotangents: readonly (Tensor | undefined)[],
  node: NodeOf<"whileLoop">,
  active: readonly boolean[],
  pullback: Pullback,
): (Tensor | undefined)[] {
  const most = node.attrs.maxTrips;
  if (most === undefined)
    throw new GraphError(
      "grad: whileLoop has no gradient, as the number of its steps is not bounded\n  give it maxTrips, or use scan",
    );
  const stand = node.operands.map((t) => input("stand", t.dtype, t.shape));
  const n = node.attrs.carries;
  const [test, body] = node.regions as [Graph, Graph];
  const inside = ({ params, results }: Graph, carry: readonly Tensor[]) => {
    const given = [...carry, ...stand.slice(n)];
    return replaceNodes(results, new Map(params.map((p, i) => [p, given[i]!] as const)));
  };
  const { carry } = scan(
    stand.slice(0, n),
    [],
    (c) => ({
      carry: cond(
        inside(test, c)[0]!,
        () => inside(body, c),
        () => c,
      ),
      ys: [],
    }),
    { length: most },
  );
  const wanted = stand.flatMap((t, i) => (active[i] && isFloat(t.dtype) ? [i] : []));
  const parts = pullback(
    carry,
    cotangents,
    wanted.map((i) => stand[i]!),
  );
  const by = new Map(stand.map((t, i) => [t, node.operands[i]!] as const));
  const out: (Tensor | undefined)[] = node.operands.map(() => undefined);
  for (const [k, i] of wanted.entries()) {
    const part = parts[k];
    if (part) out[i] = replaceNodes([part], by)[0];
  }
  return out;
}

export interface WhileOptions {
  /**
   * Ends the loop after so many steps at the latest. With it the loop has a gradient, at the cost
   * of all of them.
   */
  readonly maxTrips?: number;
}

const whileOptions: OptionNames<WhileOptions> = { maxTrips: 1 };

/**
 * carry = init; while test(…carry): carry = body(…carry). Gives the last carry. What the functions
 * read from outside becomes an operand.
 *
 * test → bool[]; body → tensors of the carry's dtypes and shapes, in order. Throws DtypeError or
 * ShapeError where they differ, GraphError if nothing is carried or a body assigns a parameter.
 * `jax.lax.while_loop`.
 *
 * @param init The first carry.
 * @param test Gives bool[]: whether to go on.
 * @param body Gives the next carry, of the same types.
 * @example
 *   const [n] = whileLoop([tensor(1)], (n) => n.less(100), (n) => [n.mul(2)]);
 *   n // 128
 */
export function whileLoop(
  init: readonly Tensor[],
  test: (...carry: Tensor[]) => Tensor,
  body: (...carry: Tensor[]) => readonly Tensor[],
  options: WhileOptions = {},
): Tensor[] {
  checkList("whileLoop", "init", init);
  for (const t of init) checkTensor("whileLoop", t);
  for (const f of [test, body])
    if (typeof f !== "function")
      throw new GraphError(`whileLoop: test and body must be functions, got ${kindOf(f)}`);
  checkOptions("whileLoop", options, whileOptions);
  checkMaxTrips(options.maxTrips);
  const first = init.map(currentValue);
  const own = () => first.map((t) => input("carry", t.dtype, t.shape));
  const [a, b] = [own(), own()];
  const region = (params: readonly Tensor[], define: () => readonly Tensor[]) =>
    countingDraws({ op: "whileLoop", step: undefined, counted: false }, () =>
      traceBody("whileLoop", params, define),
    ).value;
  const tested = region(a, () => [test(...a)]);
  checkFlag("whileLoop", "the condition", tested.results[0]);
  const traced = region(b, () => body(...b));
  checkTypes("whileLoop", "carry", first, "the body returns", traced.results);
  checkResults("whileLoop", traced.results, undefined);
  const { regions, captures } = closeOver([tested, traced], true);
  const { maxTrips } = options;
  const attrs = { carries: first.length, ...(maxTrips === undefined ? {} : { maxTrips }) };
  const operands = [...first, ...captures];
  return resultsOf({ op: "whileLoop", operands, attrs, regions }, traced.results);
}
