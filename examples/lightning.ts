/**
 * A module that says what its steps are, and a trainer that runs them, in the habit of Lightning. The backend is a name.
 *
 *     node examples/lightning.ts [--backend wasm|js|webgpu] [--quick]
 */
import { parseArgs } from "node:util";
import { data, nn, optim, type Tensor } from "kiln-ml";
import * as train from "kiln-ml/train";
import { digits, quick } from "./data.ts";

const { values } = parseArgs({ options: { backend: { type: "string" } }, strict: false });

class LitDigits extends train.TrainingModule {
  hidden = new nn.Linear(784, 128);
  scores = new nn.Linear(128, 10);

  override forward(x: Tensor): Tensor {
    return this.scores.forward(this.hidden.forward(x).relu());
  }

  override trainingStep(x: Tensor, target: Tensor) {
    const output = this.forward(x);
    return { loss: nn.crossEntropy(output, target, { labelSmoothing: 0.05 }), output, target };
  }

  // Without the smoothing, which is of training only.
  override validationStep(x: Tensor, target: Tensor) {
    const output = this.forward(x);
    return { loss: nn.crossEntropy(output, target), output, target };
  }

  override configureOptimizers(): optim.Optimizer {
    return new optim.AdamW(this.parameters(), { lr: 1e-3 });
  }
}

nn.seed(1);
const [learn, check] = data.split(await digits(), quick ? [0.2, 0.05] : [0.9, 0.1], 1);
const module = new LitDigits();
const trainer = new train.Trainer({
  maxEpochs: quick ? 3 : 10,
  metrics: [train.metrics.accuracy()],
  ...(values.backend ? { target: values.backend as train.Backend } : {}),
});
const validation = new data.DataLoader(check!, { batch: 250 });
await trainer.fit(
  module,
  new data.DataLoader(learn!, { batch: 64, shuffle: true, seed: 1 }),
  validation,
);
const logs = await trainer.validate(module, validation);
console.log(`validation accuracy ${Number(logs.accuracy).toFixed(3)}`);
