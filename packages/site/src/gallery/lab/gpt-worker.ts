/**
 * A transformer of two blocks learns a text by its characters, and goes on where a reader begins.
 */
import { arange, compile, nn, optim, type Tensor } from "kiln-ml";
import { serveLab } from "./serve.ts";
import type { Prompt, Said } from "./views.ts";

const [width, heads, context, batch] = [48, 4, 32, 12];

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

/** x: i32[N, context] → scores f32[N, context, characters]. */
class Gpt extends nn.Module {
  readonly character: nn.Embedding;
  readonly head: nn.Linear;
  readonly place = new nn.Embedding(context, width);
  readonly blocks = new nn.Sequential(new Block(), new Block());

  constructor(characters: number) {
    super();
    this.character = new nn.Embedding(characters, width);
    this.head = new nn.Linear(width, characters);
  }

  override forward(x: Tensor): Tensor {
    const h = this.character.forward(x).add(this.place.forward(arange(context)));
    return this.head.forward(this.blocks.forward(h));
  }
}

/** A character drawn by its scores: the lower the temperature, the likelier the likeliest. */
function draw(scores: readonly number[], temperature: number): number {
  const most = Math.max(...scores);
  const shares = scores.map((s) => Math.exp((s - most) / temperature));
  let left = Math.random() * shares.reduce((a, b) => a + b, 0);
  for (const [at, share] of shares.entries()) {
    left -= share;
    if (left <= 0) return at;
  }
  return 0;
}

function programs(characters: number, steps: number) {
  nn.seed(1);
  const gpt = new Gpt(characters);
  const lr = optim.schedule.cosine(8e-3, steps, 1e-4);
  const opt = new optim.AdamW(gpt.parameters(), { lr, clipNorm: 1 });
  const step = compile(
    (x: Tensor, y: Tensor) => {
      const loss = nn.crossEntropy(gpt.forward(x), y, { axis: -1 });
      opt.step(loss);
      return loss;
    },
    { name: "step" },
  );
  // A text that is shorter than the context is followed by anything: attention looks back only.
  const next = compile((x: Tensor, at: Tensor) => gpt.forward(x).mul(at).sum([0, 1]), {
    name: "next",
  });
  return { step, next };
}

serveLab<string, Said, Prompt, Said>(300, (given, steps) => {
  // A text that ends begins again, so that short ones fill the context too.
  const text = `${given.trim() || "la "} `;
  const characters = [...new Set(text)].sort();
  const around = text.repeat(2 + Math.ceil(context / text.length));
  const codes = Int32Array.from(around, (c) => characters.indexOf(c));
  const { step, next } = programs(characters.length, steps);

  const rows = (starts: readonly number[], shift: number) => ({
    data: Int32Array.from(
      starts.flatMap((s) => [...codes.subarray(s + shift, s + shift + context)]),
    ),
    shape: [batch, context],
  });

  const goOn = async ({ prompt, length, temperature }: Prompt): Promise<Said> => {
    const known = [...prompt].filter((c) => characters.includes(c));
    const all = (known.length ? known : [characters[0]!]).map((c) => characters.indexOf(c));
    const begun = all.length;
    for (let i = 0; i < length; i++) {
      const seen = all.slice(-context);
      const x = Int32Array.from({ length: context }, (_, at) => seen[at] ?? 0);
      const at = Float32Array.from({ length: context }, (_, k) => +(k === seen.length - 1));
      const scores = await next(
        { data: x, shape: [1, context] },
        { data: at, shape: [context, 1] },
      );
      all.push(draw(Array.from(await scores.data(), Number), temperature));
    }
    const read = (codesOf: readonly number[]) => codesOf.map((c) => characters[c]).join("");
    return { prompt: read(all.slice(0, begun)), continued: read(all.slice(begun)) };
  };

  return {
    steps,
    every: 50,
    inspect: () => step.inspect(),
    async step() {
      const starts = Array.from({ length: batch }, () => Math.floor(Math.random() * text.length));
      return { loss: await (await step(rows(starts, 0), rows(starts, 1))).item() };
    },
    view: () => goOn({ prompt: text.slice(0, 9), length: 40, temperature: 0.3 }),
    ask: goOn,
  };
});
