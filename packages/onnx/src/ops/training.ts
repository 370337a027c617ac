/**
 * The training ops of ONNX's preview domain: one step of an optimizer on tensors, and the gradient of a value of the graph. To train a
 * model, use `optim` on its parameters; these are for files that hold their own training step.
 */
import { grad, select, type Tensor } from "@kiln-ml/ir";
import type { NodeContext, Result } from "../context.ts";
import { type Row, row } from "../row.ts";
import { asTensorValue } from "../value.ts";
import { range } from "./operands.ts";

/** The new values of one parameter and of its states, from the old ones and its gradient. */
type Step = (
  n: NodeContext,
  x: Tensor,
  gradient: Tensor,
  states: readonly Tensor[],
) => readonly Tensor[];

/** Inputs are the rate, the number of steps, then all parameters, all gradients, and each kind of state; outputs likewise. */
const optimizer =
  (kinds: number, step: Step) =>
  (n: NodeContext): Result => {
    const count = (n.count - 2) / (kinds + 2);
    if (!Number.isInteger(count)) return n.fail(`${n.count} inputs are not a step's`);
    const at = (kind: number, i: number) => n.tensor(2 + kind * count + i);
    const stepped = range(count).map((i) => {
      const x = at(0, i);
      const gradient = at(1, i).add(x.mul(n.float("norm_coefficient", 0)));
      return step(
        n,
        x,
        gradient,
        range(kinds).map((k) => at(2 + k, i)),
      );
    });
    return range(kinds + 1).flatMap((k) => stepped.map((results) => results[k]!));
  };

const rate = (n: NodeContext): Tensor => n.tensor(0);
const steps = (n: NodeContext): Tensor => n.tensor(1).convert("f32");
/** `value` after the first step, `first` at it. */
const after = (n: NodeContext, value: Tensor | number, first: Tensor | number): Tensor =>
  select(n.tensor(1).greater(0), value, first);

const adagrad: Step = (n, x, g, [h]) => {
  const r = rate(n).div(steps(n).mul(n.float("decay_factor", 0)).add(1));
  const squares = h!.add(g.mul(g));
  return [x.sub(r.mul(g).div(squares.sqrt().add(n.float("epsilon", 1e-6)))), squares];
};

const adam: Step = (n, x, g, [v, h]) => {
  const [alpha, beta] = [n.float("alpha", 0.9), n.float("beta", 0.999)];
  const mean = v!.mul(alpha).add(g.mul(1 - alpha));
  const squares = h!.mul(beta).add(g.mul(g).mul(1 - beta));
  const power = (base: number) => steps(n).mul(Math.log(base)).exp().neg().add(1);
  const r = after(n, rate(n).mul(power(beta).sqrt()).div(power(alpha)), rate(n));
  const moved = x.sub(r.mul(mean).div(squares.sqrt().add(n.float("epsilon", 1e-6))));
  return [moved.mul(1 - n.float("norm_coefficient_post", 0)), mean, squares];
};

const momentum: Step = (n, x, g, [v]) => {
  const alpha = n.float("alpha");
  const mode = n.string("mode");
  if (mode !== "standard" && mode !== "nesterov")
    return n.fail(`mode is "${mode}", not standard or nesterov`);
  const velocity = v!.mul(alpha).add(g.mul(after(n, n.float("beta"), 1)));
  const direction = mode === "nesterov" ? g.add(velocity.mul(alpha)) : velocity;
  return [x.sub(rate(n).mul(direction)), velocity];
};

/** dy/dx for the values `xs`, which must be those that y was computed from. */
function gradient(n: NodeContext): Result {
  const named = (name: string): Tensor => {
    const value = n.lookup(name);
    return value ? asTensorValue(value, name).tensor : n.fail(`no value ${name} stands before it`);
  };
  const xs = n
    .strings("xs")
    .map((name, i) =>
      n.tensor(i) === named(name) ? n.tensor(i) : n.fail(`input ${i} is not ${name}`),
    );
  return grad(named(n.string("y")), xs);
}

const domain = "ai.onnx.preview.training";

export const trainingRows: readonly Row[] = [
  row("Adagrad", optimizer(1, adagrad), { domain }),
  row("Adam", optimizer(2, adam), { domain }),
  row("Momentum", optimizer(1, momentum), { domain }),
  row("Gradient", gradient, { domain, note: "At the values that the graph computes with." }),
];
