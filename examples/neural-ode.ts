/**
 * A neural ordinary differential equation: a network is the field in which a point moves, fitted to paths of a damped pendulum. The solver
 * is a `scan` of Runge–Kutta steps, through which gradients go, so that a step of training is one program of any length.
 *
 *     node examples/neural-ode.ts [--steps 1200] [--quick]
 *
 * Chen et al. 2018, with the gradient of the discrete solver.
 */
import { parseArgs } from "node:util";
import { compile, nn, optim, scan, type Tensor } from "kiln-ml";
import { quick, randomNumbers } from "./data.ts";

const { values } = parseArgs({
  options: { steps: { type: "string", default: quick ? "150" : "1200" } },
  strict: false,
});
const steps = Number(values.steps);
const [dt, length, paths] = [0.1, 25, 64];

/** Angle and speed of a pendulum with friction. */
const pendulum = ([angle, speed]: readonly [number, number]): [number, number] => [
  speed,
  -2 * Math.sin(angle) - 0.2 * speed,
];

/** A path with steps that are ten times as short as those of the network's solver. */
function path(start: readonly [number, number], count: number): number[][] {
  let at = start;
  return Array.from({ length: count }, () => {
    for (let i = 0; i < 10; i++) {
      const half = pendulum(at).map((v, k) => at[k]! + (v * dt) / 20) as [number, number];
      at = pendulum(half).map((v, k) => at[k]! + (v * dt) / 10) as [number, number];
    }
    return [...at];
  });
}

nn.seed(1);
const field = new nn.Sequential(new nn.Linear(2, 64), new nn.Tanh(), new nn.Linear(64, 2));

/** x: f32[N, 2] and `times` f32[T], of which only T counts → the path f32[T, N, 2]. */
function solve(x: Tensor, times: Tensor): Tensor {
  const { ys } = scan([x], [times], ([at]) => {
    const now = at!;
    const k1 = field.forward(now);
    const k2 = field.forward(now.add(k1.mul(dt / 2)));
    const k3 = field.forward(now.add(k2.mul(dt / 2)));
    const k4 = field.forward(now.add(k3.mul(dt)));
    const next = now.add(
      k1
        .add(k2.mul(2))
        .add(k3.mul(2))
        .add(k4)
        .mul(dt / 6),
    );
    return { carry: [next], ys: [next] };
  });
  return ys[0]!;
}

const draw = randomNumbers(1);
const starts = Array.from({ length: paths }, () => [3 * draw() - 1.5, 3 * draw() - 1.5] as const);
const all = starts.map((s) => path(s, length));
// Time first, as the scan has it.
const target = Array.from({ length }, (_, t) => all.map((p) => p[t]!));

const adam = new optim.Adam(field.parameters(), { lr: optim.schedule.cosine(0.01, steps, 1e-4) });
const train = compile((x: Tensor, times: Tensor, y: Tensor) => {
  const loss = nn.mse(solve(x, times), y);
  adam.step(loss);
  return loss;
});
const flat = Float32Array.from(target.flat(2));
for (let i = 1; i <= steps; i++) {
  const y = { data: flat, shape: [length, paths, 2] };
  const loss = await train(starts, new Float32Array(length), y);
  if (i % Math.ceil(steps / 6) === 0)
    console.log(`step ${i}: loss ${(await loss.item()).toExponential(2)}`);
}

// A path from a place of its own, for twice the time: the same program, longer.
const start = [1.2, -0.4] as const;
const truth = path(start, 2 * length);
const run = compile((x: Tensor, times: Tensor) => solve(x, times));
const seen = await (await run([start], new Float32Array(2 * length))).data();
const error = Math.max(
  ...truth.flatMap(([a, s], t) => [Math.abs(seen[2 * t]! - a!), Math.abs(seen[2 * t + 1]! - s!)]),
);
console.log(`largest error ${error.toFixed(4)} on a new path, twice as long`);
