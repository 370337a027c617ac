/**
 * Trains the model that the chat page begins with: 130,000 parameters that tell stories of a few
 * sentences about the animal that they are asked for, letter by letter. Conversations are made up
 * here. Run by hand, from the root:
 *
 *     node --conditions=@kiln-ml/source --import tsx packages/site/models/train-teller.ts
 *
 * An argument of 2 begins with the second phase, with the weights that there are.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { Decoder, decoderConfig } from "@kiln-ml/llm";
import { compile, loadState, loadWeights, nn, optim, stateBytes, type Tensor } from "kiln-ml";

const folder = "packages/site/models/teller";
/** Short conversations first, which take a tenth of the time; then ones that fill the context. */
const phases = [
  { batch: 16, length: 160, steps: 1500, rate: 6e-3 },
  { batch: 6, length: 512, steps: 200, rate: 3e-3 },
] as const;

const animals = "cat dog fox bear owl mouse frog duck hare wolf hen pig".split(" ");
const names = "Lily Tom Mia Ben Anna Max Ida Leo".split(" ");
const things = "a red ball|a big cake|a blue hat|a shiny stone|a warm bed|an old boat".split("|");
const places = "in the wood|by the sea|on a hill|in a garden|near a river".split("|");
const friends = "a kind girl|a small boy|an old man|a green bird|a happy bee".split("|");
const endings = [
  "They were friends for ever.",
  "It was the best day of all.",
  "Then it went home and slept.",
  "They laughed and played until night.",
];
const asked = [
  "tell me about @ #",
  "a story about @ #",
  "Tell me a story about @ #.",
  "do you know @ #?",
  "#",
  "one about @ #, please",
];
const greetings = ["hello", "hi", "Hello!", "good morning", "hey"];
const thanks = ["thank you", "thanks", "nice story", "that was good"];

let seed = 7;
/** A whole number below n, by Marsaglia's xorshift. */
function below(n: number): number {
  seed ^= seed << 13;
  seed ^= seed >>> 17;
  seed ^= seed << 5;
  return (seed >>> 0) % n;
}
const one = (list: readonly string[]): string => list[below(list.length)]!;

const article = (noun: string): string => (/^[aeiou]/.test(noun) ? "an" : "a");

function story(animal: string): string {
  const [name, thing, place] = [one(names), one(things), one(places)];
  return `Once there was ${article(animal)} ${animal} called ${name}. ${name} lived ${place}. One day the ${animal} found ${thing} and met ${one(friends)}. ${one(endings)}`;
}

function turn(): string {
  const kind = below(8);
  if (kind === 0) return `> ${one(greetings)}\nHello! Ask me for a story about an animal.`;
  if (kind === 1) return `> ${one(thanks)}\nYou are welcome. Shall I tell one more?`;
  const animal = one(animals);
  return `> ${one(asked).replace("@", article(animal)).replace("#", animal)}\n${story(animal)}`;
}

const special = ["<unk>", "<s>", "</s>"];
const letters = [..." \n!',.>?-ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"];
const vocabulary = [...special, ...letters];
const config = {
  model_type: "llama",
  vocab_size: vocabulary.length,
  hidden_size: 64,
  intermediate_size: 160,
  num_hidden_layers: 3,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  max_position_embeddings: 512,
  rms_norm_eps: 1e-5,
  tie_word_embeddings: true,
  bos_token_id: 1,
  eos_token_id: 2,
};

const begin = { SpecialToken: { id: "<s>", type_id: 0 } };
const files = {
  "config.json": config,
  "tokenizer.json": {
    version: "1.0",
    added_tokens: special.map((content, id) => ({ id, content, special: true })),
    normalizer: null,
    pre_tokenizer: null,
    post_processor: {
      type: "TemplateProcessing",
      single: [begin, { Sequence: { id: "A", type_id: 0 } }],
      pair: [],
      special_tokens: { "<s>": { id: "<s>", ids: [1], tokens: ["<s>"] } },
    },
    decoder: { type: "Fuse" },
    model: {
      type: "BPE",
      unk_token: "<unk>",
      vocab: Object.fromEntries(vocabulary.map((piece, id) => [piece, id])),
      merges: [],
    },
  },
  "tokenizer_config.json": {
    bos_token: "<s>",
    eos_token: "</s>",
    chat_template:
      "{{ bos_token }}{% for m in messages %}{% if m.role == 'user' %}> {{ m.content }}\n{% else %}{{ m.content }}{{ eos_token }}{% endif %}{% endfor %}",
  },
};

const codes = new Map(vocabulary.map((piece, id) => [piece, id]));
/** A conversation, from its first token; one more than are read, since each is told the next. */
function conversation(length: number): number[] {
  const tokens = [1];
  while (tokens.length <= length) {
    for (const letter of turn()) tokens.push(codes.get(letter)!);
    tokens.push(2);
  }
  // Half of them begin anywhere, so that every place is trained.
  const from = below(2) ? 0 : below(tokens.length - length);
  return tokens.slice(from, from + length + 1);
}

nn.seed(1);
const net = new Decoder(decoderConfig(config));
const begun = Number(process.argv[2] ?? 1);
if (begun > 1)
  await loadState(net, new Uint8Array(readFileSync(`${folder}/model.safetensors`)), {
    convert: true,
  });
else await shrink();
for (const phase of phases.slice(begun - 1)) await train(phase);

/** Small embeddings: they are the head too. */
async function shrink(): Promise<void> {
  const { weight } = net.model.embed_tokens;
  const small = Float32Array.from((await weight.data()) as Float32Array, (v) => 0.05 * v);
  const data = new Uint8Array(small.buffer);
  const shape = [vocabulary.length, config.hidden_size];
  const tensors = { "model.embed_tokens.weight": { dtype: "f32", shape, data } } as const;
  await loadWeights(net, tensors, { strict: false });
}

async function train({ batch, length, steps, rate }: (typeof phases)[number]): Promise<void> {
  const lr = optim.schedule.cosine(rate, steps, 1e-4);
  const opt = new optim.AdamW(net.parameters(), { lr, clipNorm: 1, weightDecay: 0.01 });
  const step = compile(
    (x: Tensor, y: Tensor) => {
      const loss = nn.crossEntropy(net.forward(x), y, { axis: -1 });
      opt.step(loss);
      return loss;
    },
    { target: "wasm", name: "step" },
  );
  for (let i = 1; i <= steps; i++) {
    const rows = Array.from({ length: batch }, () => conversation(length));
    const of = (shift: number) => ({
      data: Int32Array.from(rows.flatMap((r) => r.slice(shift, shift + length))),
      shape: [batch, length],
    });
    const loss = await (await step(of(0), of(1))).item();
    if (i % 25 === 0 || i === 1) console.log(`${i} of ${steps}: loss ${Number(loss).toFixed(3)}`);
    if (i % 100 === 0 || i === steps) await save();
  }
}

async function save(): Promise<void> {
  for (const [name, json] of Object.entries(files))
    writeFileSync(`${folder}/${name}`, `${JSON.stringify(json, null, 1)}\n`);
  const halves = new Decoder(net.config, { weights: "f16" });
  await loadState(halves, await stateBytes(net), { convert: true });
  writeFileSync(`${folder}/model.safetensors`, await stateBytes(halves));
}
