/**
 * A differential equation without data: a network is the solution of Burgers' equation, u_t + u·u_x = ν·u_xx, because the loss is how far it
 * is from one. Derivatives of the network by its inputs are graph like everything else, so the step is one program.
 *
 *     node examples/pinn.ts [--steps 3000] [--quick]
 *
 * Raissi, Perdikaris & Karniadakis 2019, with ν = 0.05; the exact solution is that of Cole and Hopf, by quadrature.
 */
import { parseArgs } from "node:util";
import { compile, concat, grad, nn, optim, random, type Tensor } from "kiln-ml";
import { quick } from "./data.ts";

const { values } = parseArgs({
  options: { steps: { type: "string", default: quick ? "400" : "3000" } },
  strict: false,
});
const steps = Number(values.steps);
const viscosity = 0.05;

nn.seed(1);
const width = quick ? 20 : 32;
const hidden = new nn.Sequential(
  new nn.Linear(2, width),
  new nn.Tanh(),
  new nn.Linear(width, width),
  new nn.Tanh(),
  new nn.Linear(width, width),
  new nn.Tanh(),
  new nn.Linear(width, 1),
);
/** −sin πx at t = 0 and 0 at x = ±1, whatever the network says: the loss need not ask for it. */
function solution(x: Tensor, t: Tensor): Tensor {
  const free = hidden.forward(concat([x, t], 1));
  return x
    .mul(Math.PI)
    .sin()
    .neg()
    .add(t.mul(x.square().neg().add(1)).mul(free));
}

const keys = new nn.KeyStream({ seed: 1 });
const adam = new optim.Adam(hidden.parameters(), { lr: optim.schedule.cosine(5e-3, steps, 1e-4) });
const points = quick ? 256 : 1024;
const step = compile(() => {
  const x = random.uniform(keys.next(), [points, 1], { low: -1, high: 1 });
  const t = random.uniform(keys.next(), [points, 1]);
  const u = solution(x, t);
  // Rows do not mix, so the gradient of the sum has each row's derivative.
  const [slope, speed] = grad(u.sum(), [x, t]) as [Tensor, Tensor];
  const bend = grad(slope.sum(), [x])[0]!;
  const rest = speed.add(u.mul(slope)).sub(bend.mul(viscosity));
  const loss = rest.square().mean();
  adam.step(loss);
  return loss;
});
for (let i = 1; i <= steps; i++) {
  const loss = await step();
  if (i % Math.ceil(steps / 6) === 0)
    console.log(`step ${i}: loss ${(await loss.item()).toExponential(2)}`);
}

const places = Array.from({ length: 101 }, (_, i) => -1 + i / 50);
const times = [0.25, 0.5, 0.75, 1];
const column = (list: number[]) => ({ data: Float32Array.from(list), shape: [list.length, 1] });
const evaluate = compile((x: Tensor, t: Tensor) => solution(x, t));
const found = await evaluate(
  column(times.flatMap(() => places)),
  column(times.flatMap((t) => places.map(() => t))),
);
const u = await found.data();
let [off, all] = [0, 0];
times.forEach((t, k) => {
  places.forEach((x, i) => {
    const truth = exact(x, t);
    off += (u[k * places.length + i]! - truth) ** 2;
    all += truth ** 2;
  });
});
console.log(`relative error ${Math.sqrt(off / all).toExponential(2)}`);

/** ∫ −sin π(x − η)·f·e^(−η²/4νt) dη / ∫ f·e^(−η²/4νt) dη with f = e^(−cos π(x − η)/2πν). */
function exact(x: number, t: number): number {
  let [above, below] = [0, 0];
  const reach = 6 * Math.sqrt(2 * viscosity * t);
  for (let i = -400; i <= 400; i++) {
    const at = x - (reach * i) / 400;
    // The greatest exponent is taken out, so that nothing overflows.
    const exponent = -(Math.cos(Math.PI * at) + 1) / (2 * Math.PI * viscosity);
    const weight = Math.exp(exponent - (reach * i) ** 2 / 160_000 / (4 * viscosity * t));
    above -= Math.sin(Math.PI * at) * weight;
    below += weight;
  }
  return above / below;
}
