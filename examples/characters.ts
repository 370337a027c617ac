/**
 * A transformer that learns a rhyme by characters and goes on with it, one character at a time: keys and values of what
 * was read are kept and grow by one at a step, under a symbol for their length, so that one program serves them all.
 *
 *   characters.ts [steps, 300] [letters, 70]
 */
import { arange, compile, concat, nn, optim, random, type Tensor } from "kiln-ml";

const [steps, longest] = [Number(process.argv[2] ?? 300), Number(process.argv[3] ?? 70)];
const third = Math.ceil(steps / 3);
const rhyme = "how much wood would a woodchuck chuck if a woodchuck could chuck wood? ";
const text = rhyme.repeat(3);
const letters = [...new Set(text)].sort();
const codes = Int32Array.from(text, (c) => letters.indexOf(c));
const [width, heads, most] = [32, 2, 160];
const depth = width / heads;

class Model extends nn.Module {
  letter = new nn.Embedding(letters.length, width);
  place = new nn.Embedding(most, width);
  before = new nn.LayerNorm(width);
  parts = new nn.Linear(width, 3 * width);
  out = new nn.Linear(width, width);
  mlp = new nn.Sequential(
    new nn.LayerNorm(width),
    new nn.Linear(width, 4 * width),
    new nn.GELU(),
    new nn.Linear(4 * width, width),
  );
  head = new nn.Linear(width, letters.length);

  /** x: i32[B, T] at `places` i32[T]; what came before, if anything, as `past`: keys and values f32[B, heads, S, depth]. */
  override forward(x: Tensor, places: Tensor, past: readonly Tensor[] = []) {
    const [batch, length] = x.shape;
    const h = this.letter.forward(x).add(this.place.forward(places));
    const split = (t: Tensor) => t.reshape([batch!, length!, heads, depth]).transpose([0, 2, 1, 3]);
    const [q, ...own] = this.parts.forward(this.before.forward(h)).split(3, -1).map(split);
    const [k, v] = own.map((t, i) => (past[i] ? concat([past[i], t], 2) : t));
    const read = nn.attention(q!, k!, v!, { causal: !past.length });
    const joined = read.transpose([0, 2, 1, 3]).reshape([batch!, length!, width]);
    const y = h.add(this.out.forward(joined));
    return { logits: this.head.forward(y.add(this.mlp.forward(y))), past: [k!, v!] };
  }
}
nn.seed(1);
const model = new Model();
const opt = new optim.AdamW(model.parameters(), {
  lr: optim.schedule.warmup(0.01, 10),
  clipNorm: 1,
});
const train = compile((x: Tensor, y: Tensor) => {
  const { logits } = model.forward(x, arange(x.shape[1]!));
  const loss = nn.crossEntropy(logits, y, { axis: -1 });
  opt.step(loss);
  return loss;
});
for (let i = 0; i < steps; i++) {
  const at = (7 * i) % rhyme.length;
  const part = (from: number) => ({ data: codes.slice(from, from + 128), shape: [1, 128] });
  const loss = await train(part(at), part(at + 1));
  if ((i + 1) % third === 0) console.log(`step ${i + 1}: loss ${(await loss.item()).toFixed(2)}`);
}

const keys = new nn.KeyStream({ seed: 1 });
const cache = [1, heads, "S", depth];
const next = compile(
  (x: Tensor, place: Tensor, temperature: Tensor, ...past: Tensor[]) => {
    const step = model.forward(x, place, past);
    const logits = step.logits.take(-1, 1).div(temperature);
    return { letter: random.categorical(keys.next(), logits), past: step.past };
  },
  { inputs: [{ shape: [1, 1], dtype: "i32" }, { shape: [1], dtype: "i32" }, [], cache, cache] },
);
const start = compile((x: Tensor) => model.forward(x, arange(x.shape[1]!)).past);
const given = "how much ";
const head = codes.slice(0, given.length - 1);
let past = await start({ data: head, shape: [1, head.length] });
let letter = codes[given.length - 1]!;
let said = given;
while (said.length < longest) {
  const x = { data: Int32Array.of(letter), shape: [1, 1] };
  const step = await next(x, Int32Array.of(said.length - 1), 0.3, ...past);
  past = step.past;
  letter = await step.letter.item();
  said += letters[letter];
}
console.log(said);
