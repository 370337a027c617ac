/** The GPT whose step is timed: the same sizes and rule as `by_hand.py` writes out in JAX. */
import { input, iota, type Tensor, trace } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import * as optim from "@kiln-ml/optim";
import { compile } from "kiln-ml";
import type { Program } from "../../compiler/src/program.ts";
import { Block } from "../stablehlo/block.ts";

export interface GptSize {
  readonly width: number;
  readonly heads: number;
  readonly layers: number;
  readonly tokens: number;
  readonly vocabulary: number;
}

export const sizes: Readonly<Record<string, GptSize>> = {
  gpt: { width: 768, heads: 12, layers: 6, tokens: 512, vocabulary: 8192 },
  small: { width: 64, heads: 4, layers: 2, tokens: 32, vocabulary: 128 },
};

class Gpt extends nn.Module {
  readonly embedding: nn.Embedding;
  readonly places: nn.Embedding;
  readonly blocks: nn.Sequential;
  readonly norm: nn.LayerNorm;
  readonly head: nn.Linear;
  readonly tokens: number;

  constructor({ width, heads, layers, tokens, vocabulary }: GptSize) {
    super();
    this.tokens = tokens;
    this.embedding = new nn.Embedding(vocabulary, width);
    this.places = new nn.Embedding(tokens, width);
    this.blocks = new nn.Sequential(
      ...Array.from({ length: layers }, () => new Block(width, heads)),
    );
    this.norm = new nn.LayerNorm(width);
    this.head = new nn.Linear(width, vocabulary, { bias: false });
  }

  override forward(x: Tensor): Tensor {
    const at = this.places.forward(iota([this.tokens]));
    return this.head.forward(
      this.norm.forward(this.blocks.forward(this.embedding.forward(x).add(at))),
    );
  }
}

/** What a step of SGD with momentum does on sequences of tokens and what follows them. */
function definition(size: GptSize, rows: number) {
  nn.seed(1);
  const net = new Gpt(size);
  const rule = new optim.SGD(net.parameters(), { lr: 0.01, momentum: 0.9 });
  return (x: Tensor, y: Tensor) => {
    const flat = [rows * size.tokens];
    const loss = nn.crossEntropy(
      net.forward(x).reshape([...flat, size.vocabulary]),
      y.reshape(flat),
    );
    rule.step(loss);
    return loss;
  };
}

/** The step as a function. */
export function gptStep(size: GptSize, rows: number, options: object) {
  const type = { shape: [rows, size.tokens], dtype: "i32" as const };
  return compile(definition(size, rows), { inputs: [type, type], name: "gpt", ...options });
}

/** The step as a program, which nothing runs. */
export function gptProgram(size: GptSize, rows: number): Program {
  const step = definition(size, rows);
  const [x, y] = ["x", "y"].map((name) => input(name, "i32", [rows, size.tokens]));
  const { value, updates } = trace(() => step(x!, y!));
  return { inputs: [x!, y!], outputs: [{ name: "loss", value }], updates: [...updates] };
}
