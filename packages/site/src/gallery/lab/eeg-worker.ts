/**
 * A network in EEGNet's form learns which hand is imagined to move, and says which electrodes told
 * it.
 */
import { compile, grad, nn, optim, type Tensor } from "kiln-ml";
import { serveLab } from "./serve.ts";
import { person, trial } from "./signals.ts";
import { electrodes, type Heard, type Listened, rate, type Window } from "./views.ts";

const [channels, batch, people, heldBack] = [electrodes.length, 32, 16, 4];

/**
 * x: f32[N, 1, electrodes, samples] → scores f32[N, 2]. Filters in time, a mixture of electrodes
 * for each, and filters again.
 */
class EegNet extends nn.Module {
  temporal = new nn.Conv2d(1, 8, [1, 33], { padding: "same", bias: false });
  temporalNorm = new nn.BatchNorm2d(8);
  spatial = new nn.Conv2d(8, 16, [channels, 1], { groups: 8, bias: false });
  spatialNorm = new nn.BatchNorm2d(16);
  later = new nn.Conv2d(16, 16, [1, 9], { groups: 16, padding: "same", bias: false });
  mixed = new nn.Conv2d(16, 16, 1, { bias: false });
  mixedNorm = new nn.BatchNorm2d(16);
  scores = new nn.Linear(16 * (rate / 32), 2);

  override forward(x: Tensor): Tensor {
    const inTime = this.temporalNorm.forward(this.temporal.forward(x));
    const inSpace = this.spatialNorm.forward(this.spatial.forward(inTime));
    // Powers of a rhythm, not its phase, tell the hands apart.
    const power = new nn.AvgPool2d([1, 4]).forward(inSpace.square()).add(1e-3).log();
    const mixed = this.mixedNorm.forward(this.mixed.forward(this.later.forward(power))).elu();
    return this.scores.forward(new nn.AvgPool2d([1, 8]).forward(mixed).flatten(1));
  }
}

function programs(steps: number) {
  nn.seed(1);
  const net = new EegNet();
  const opt = new optim.AdamW(net.parameters(), { lr: optim.schedule.cosine(4e-3, steps, 1e-4) });
  const step = compile(
    (x: Tensor, y: Tensor) => {
      const loss = nn.crossEntropy(net.train().forward(x), y);
      opt.step(loss);
      return loss;
    },
    { name: "step" },
  );
  const tell = compile((x: Tensor) => net.eval().forward(x).softmax(-1), { name: "tell" });
  // What each electrode adds to the difference of the two scores, to first order.
  const weigh = compile(
    (x: Tensor) => {
      const scores = net.eval().forward(x);
      const difference = scores
        .slice([0, 1], [1, 2])
        .sub(scores.slice([0, 0], [1, 1]))
        .sum();
      const [slope] = grad(difference, [x]);
      return slope!.mul(x).abs().mean([0, 1, 3]);
    },
    { name: "weigh" },
  );
  return { step, tell, weigh };
}

/** Trials of people, hands in turn. */
function batchOf(who: readonly ReturnType<typeof person>[], count: number) {
  const data = new Float32Array(count * channels * rate);
  const hands = Int32Array.from({ length: count }, (_, i) => i % 2);
  for (let i = 0; i < count; i++)
    data.set(trial(who[Math.floor(Math.random() * who.length)]!, hands[i]!), i * channels * rate);
  return [{ data, shape: [count, 1, channels, rate] }, hands] as const;
}

serveLab<undefined, Listened, Window, Heard>(150, (_, steps) => {
  const { step, tell, weigh } = programs(steps);
  const learnt = Array.from({ length: people }, person);
  const [unseen, hands] = batchOf(Array.from({ length: heldBack }, person), 80);
  return {
    steps,
    every: 15,
    inspect: () => step.inspect(),
    step: async () => ({ loss: await (await step(...batchOf(learnt, batch))).item() }),
    async view() {
      const shares = await (await tell(unseen)).data();
      const right = hands.filter((hand, i) => Number(shares[2 * i + hand]) > 0.5);
      return { accuracy: right.length / hands.length };
    },
    async ask(window) {
      const x = { data: window, shape: [1, 1, channels, rate] };
      const shares = Array.from(await (await tell(x)).data(), Number);
      const slopes = Array.from(await (await weigh(x)).data(), Number);
      const most = Math.max(...slopes);
      return { shares, weights: slopes.map((v) => v / most) };
    },
  };
});
