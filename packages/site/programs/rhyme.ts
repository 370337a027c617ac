// A tiny GPT learns a rhyme by its letters, and says it again.
import { arange, compile, nn, optim, type Tensor } from "kiln-ml";
import { plot } from "playground";

const rhyme =
  "how much wood would a woodchuck chuck if a woodchuck could chuck wood? " +
  "as much wood as a woodchuck would, if a woodchuck could chuck wood. ";
const letters = [...new Set(rhyme)].sort();
const codes = Int32Array.from(rhyme.repeat(3), (c) => letters.indexOf(c));
const [width, heads, context, batch, steps] = [48, 4, 32, 12, 250];

class Block extends nn.Module {
  before = new nn.LayerNorm(width);
  qkv = new nn.Linear(width, 3 * width);
  out = new nn.Linear(width, width);
  mlp = new nn.Sequential(
    new nn.LayerNorm(width),
    new nn.Linear(width, 4 * width),
    new nn.GELU(),
    new nn.Linear(4 * width, width),
  );

  override forward(x: Tensor): Tensor {
    const [b, t] = x.shape as [number, number];
    const split = (y: Tensor) => y.reshape([b, t, heads, width / heads]).transpose([0, 2, 1, 3]);
    const [q, k, v] = this.qkv.forward(this.before.forward(x)).split(3, -1).map(split);
    const read = nn.attention(q!, k!, v!, { causal: true });
    const y = x.add(this.out.forward(read.transpose([0, 2, 1, 3]).reshape([b, t, width])));
    return y.add(this.mlp.forward(y));
  }
}

class Gpt extends nn.Module {
  letter = new nn.Embedding(letters.length, width);
  place = new nn.Embedding(context, width);
  blocks = new nn.Sequential(new Block());
  head = new nn.Linear(width, letters.length);

  override forward(x: Tensor): Tensor {
    const h = this.letter.forward(x).add(this.place.forward(arange(x.shape[1]!)));
    return this.head.forward(this.blocks.forward(h));
  }
}

nn.seed(1);
const gpt = new Gpt();
const opt = new optim.AdamW(gpt.parameters(), {
  lr: optim.schedule.cosine(0.008, steps, 1e-4),
  clipNorm: 1,
});
const step = compile((x: Tensor, y: Tensor) => {
  const loss = nn.crossEntropy(gpt.forward(x), y, { axis: -1 });
  opt.step(loss);
  return loss;
});
const next = compile((x: Tensor) => gpt.forward(x).take(-1, 1).argMax(-1));

const rows = (starts: number[], shift: number) => ({
  data: Int32Array.from(starts.flatMap((s) => [...codes.subarray(s + shift, s + shift + context)])),
  shape: [starts.length, context],
});
for (let i = 1; i <= steps; i++) {
  const starts = Array.from({ length: batch }, () => Math.floor(Math.random() * rhyme.length));
  const loss = await step(rows(starts, 0), rows(starts, 1));
  if (i % 5 === 0) plot("loss", await loss.item());
}

let text = rhyme.slice(0, context);
for (let i = 0; i < 90; i++) {
  const x = Int32Array.from(text.slice(-context), (c) => letters.indexOf(c));
  text += letters[await (await next({ data: x, shape: [1, context] })).item()];
}
console.log(`${text.slice(0, context)}│${text.slice(context)}`);
