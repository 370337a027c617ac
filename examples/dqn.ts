/**
 * An agent that balances a pole on a cart: a deep Q-network with a replay buffer and a target
 * network that follows in the same step. The world is a few lines of JavaScript; acting and
 * learning are two programs that share parameters.
 *
 *     node examples/dqn.ts [--episodes 400] [--quick]
 *
 * Mnih et al. 2015 with van Hasselt et al. 2016; the cart of Barto, Sutton & Anderson 1983 as Gym
 * has it.
 */
import { parseArgs } from "node:util";
import { compile, defaultTarget, nn, optim, type Tensor } from "kiln-ml";
import { quick, randomNumbers } from "./data.ts";

const { values } = parseArgs({
  options: { episodes: { type: "string", default: quick ? "120" : "400" } },
  strict: false,
});
const draw = randomNumbers(3);
const longest = quick ? 200 : 500;

/** Position, speed, angle, angular speed. */
type State = readonly [number, number, number, number];

const start = (): State => [0, 0, 0, 0].map(() => 0.1 * (draw() - 0.5)) as unknown as State;

/** 20 ms of the cart, pushed to the left (0) or right (1). */
function push([x, v, angle, turn]: State, action: number): { next: State; fell: boolean } {
  const force = action ? 10 : -10;
  const [sin, cos] = [Math.sin(angle), Math.cos(angle)];
  const whole = (force + 0.05 * turn * turn * sin) / 1.1;
  const bend = (9.8 * sin - cos * whole) / (0.5 * (4 / 3 - (0.1 * cos * cos) / 1.1));
  const next: State = [
    x + 0.02 * v,
    v + 0.02 * (whole - (0.05 * bend * cos) / 1.1),
    angle + 0.02 * turn,
    turn + 0.02 * bend,
  ];
  return { next, fell: Math.abs(next[0]) > 2.4 || Math.abs(next[2]) > Math.PI / 15 };
}

const network = () =>
  new nn.Sequential(
    new nn.Linear(4, 64),
    new nn.ReLU(),
    new nn.Linear(64, 64),
    new nn.ReLU(),
    new nn.Linear(64, 2),
  );
nn.seed(2);
const [online, target] = [network(), network()];
const adam = new optim.AdamW(online.parameters(), { lr: 1e-3, clipNorm: 10 });

// Nets this small are quickest as plain loops, and on one target parameters need not move between
// `act` and `learn`.
const where = defaultTarget() === "auto" ? "js" : defaultTarget();
const act = compile((state: Tensor) => online.forward(state).argMax(-1), {
  inputs: [[1, 4]],
  target: where,
});
const batch = 64;
const learn = compile(
  (s: Tensor, action: Tensor, reward: Tensor, next: Tensor, goesOn: Tensor) => {
    const value = online.forward(s).takeAlongAxis(action.expandDims(1), 1).squeeze(1);
    // The online network chooses, the target network judges: values are not overestimated as much.
    const best = online.forward(next).argMax(-1).expandDims(1);
    const after = target.forward(next).takeAlongAxis(best, 1).squeeze(1);
    const loss = nn.huber(value, reward.add(after.mul(goesOn).mul(0.99)).stopGradient());
    adam.step(loss);
    optim.polyak(target, online, 0.01);
    return loss;
  },
  { target: where },
);

const capacity = 20_000;
const memory: { s: State; action: number; reward: number; next: State; goesOn: number }[] = [];
let stored = 0;

async function replay(): Promise<void> {
  const picked = Array.from({ length: batch }, () => memory[Math.floor(memory.length * draw())]!);
  const states = (key: "s" | "next") => ({
    data: Float32Array.from(picked.flatMap((p) => p[key])),
    shape: [batch, 4],
  });
  await learn(
    states("s"),
    Int32Array.from(picked, (p) => p.action),
    Float32Array.from(picked, (p) => p.reward),
    states("next"),
    Float32Array.from(picked, (p) => p.goesOn),
  );
}

const lengths: number[] = [];
const episodes = Number(values.episodes);
let best = 0;
for (let episode = 1; episode <= episodes; episode++) {
  const curious = Math.max(0.02, 0.9 * Math.exp(-episode / 20));
  let s = start();
  for (let t = 1; t <= longest; t++) {
    const greedy = draw() >= curious;
    const action = greedy ? await (await act([s])).item() : Math.floor(2 * draw());
    const { next, fell } = push(s, action);
    memory[stored++ % capacity] = { s, action, reward: 1, next, goesOn: fell ? 0 : 1 };
    if (memory.length >= batch) await replay();
    s = next;
    if (fell || t === longest) {
      lengths.push(t);
      break;
    }
  }
  const recent = lengths.slice(-20).reduce((a, b) => a + b, 0) / Math.min(20, lengths.length);
  best = Math.max(best, recent);
  if (episode % 20 === 0) console.log(`episode ${episode}: ${recent.toFixed(0)} steps on average`);
  if (recent >= 0.95 * longest) break;
}
console.log(`best average of 20 episodes ${best.toFixed(0)} of ${longest} steps`);
