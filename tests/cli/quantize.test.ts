/** `kiln compile --quantize`: sizes and errors are told, and the artifact holds few bits. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readArtifact, readEntries } from "@kiln-ml/artifact/node";
import { writeNpz } from "@kiln-ml/formats";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { modelFiles } from "../llm/small-model.ts";
import { Project } from "./kiln.ts";

const project = new Project("quantize");
const compile = (...args: string[]) => project.kiln("compile", "--no-check", ...args);
project.write(
  "net.ts",
  `import { nn } from "kiln-ml";
const net = new nn.Sequential(new nn.Linear(64, 64), new nn.ReLU(), new nn.Linear(64, 10));
export const model = { name: "net", fn: (x) => net.forward(x), inputs: [["N", 64]] };
`,
);
project.write(
  "steps.ts",
  `import { assign, nn, param } from "kiln-ml";
const net = new nn.Linear(32, 4);
const seen = param([0], { name: "seen", trainable: false });
export const entries = {
  one: { fn: (x) => net.forward(x), inputs: [["N", 32]] },
  two: { fn: (x) => { assign(seen, seen.add(1)); return net.forward(x).relu(); }, inputs: [[1, 32]] },
};
`,
);
project.write("none.ts", "export const model = { fn: (x) => x.relu(), inputs: [[4]] };\n");
const small = join(project.folder, "small");
mkdirSync(small);
for (const [name, text] of Object.entries(modelFiles)) writeFileSync(join(small, name), text);
writeFileSync(join(project.folder, "ab.txt"), "abbabaabbbab");

test("a script's model is written in few bits, with errors by weight and by result", async () => {
  const { out, err } = compile("net.ts", "--quantize", "int8", "--target", "js", "-o", "net.kiln");
  assert.is(err, "");
  assert.match(
    out,
    /quantized to int8: 2 weights, all of them 19\.2 kB before, 5\.6 kB after \(0\.29×\)/,
  );
  assert.match(out, /\n {2}0\.weight +64×64 +16\.4 kB +4\.6 kB +0\.\S+ +\S+ +0\.\d+\n/);
  assert.match(out, /stay as they are: 0\.bias, 2\.bias \(a vector\)\n/);
  assert.match(
    out,
    /net on made-up inputs: off by \S+ at most, \S+ rms of \S+; the largest of a row is the same in \d+ of 32\n$/,
  );
  const { signature } = await readArtifact(join(project.folder, "net.kiln"));
  assert.equal(signature.states.map((s) => `${s.name} ${s.dtype}`).sort(), [
    "0.bias f32",
    "0.weight.scales f32",
    "0.weight.words u32",
    "2.bias f32",
    "2.weight.scales f32",
    "2.weight.words u32",
  ]);
});

test("results are compared on inputs out of a file", () => {
  const data = Float32Array.from({ length: 3 * 64 }, (_, i) => Math.sin(i));
  const x = { dtype: "f32" as const, shape: [3, 64], data: new Uint8Array(data.buffer) };
  writeFileSync(join(project.folder, "x.npz"), writeNpz({ arg0: x }));
  writeFileSync(join(project.folder, "y.npz"), writeNpz({ y: x }));
  const args = ["net.ts", "--quantize", "int4", "--target", "js", "-o", "net4.kiln"];
  const { out, err } = compile(...args, "--data", "x.npz");
  assert.is(err, "");
  assert.match(out, /net on x\.npz: off by \S+ at most, .* in \d of 3\n$/);
  assert.is(
    compile(...args, "--data", "y.npz").err,
    "kiln compile: y.npz has no arg0\n  it has y\n",
  );
});

test("entries share what stands for a weight; what runs change is not run for a report", async () => {
  const { out, err } = compile(
    "steps.ts",
    "--quantize",
    "int4",
    "--target",
    "js",
    "-o",
    "steps",
    "--json",
  );
  assert.is(err, "");
  const { quantized, weightBytes } = JSON.parse(out);
  assert.is(quantized.weights.length, 1);
  assert.equal(quantized.outputs, {});
  assert.is(weightBytes, 4 * 16 + 4 * 4 + 4 * 4);
  const { states } = await readEntries(join(project.folder, "steps"));
  assert.equal(states.map((s) => s.name).sort(), ["bias", "seen", "weight.scales", "weight.words"]);
});

test("a language model is written in few bits, with perplexity before and after", async () => {
  const args = ["small", "--quantize", "int8", "--target", "js", "--capacity", "16"];
  const { out, err } = compile(...args, "--text", "ab.txt", "-o", "told");
  assert.is(err, "");
  assert.match(out, /quantized to int8: 7 weights/);
  assert.match(
    out,
    /stay as they are: model\.embed_tokens\.weight \(rows of tokens, and the head\)\n/,
  );
  assert.match(
    out,
    /on 11 tokens: perplexity \S+ before, \S+ after \(\d\.\d{3}×\); the likeliest token is the same after \d+; scores are off by \S+ at most, \S+ rms\n$/,
  );
  const { states } = await readEntries(join(project.folder, "told"));
  assert.is(states.filter((s) => s.name.endsWith(".quantized.words")).length, 7);
  const all = compile(...args, "--embeddings", "--json", "-o", "told");
  assert.is(JSON.parse(all.out).quantized.weights.length, 8);
});

test("what cannot be had is refused", () => {
  const refused = (...args: string[]): string => compile(...args, "-o", "x").err;
  assert.equal(
    [
      refused("net.ts", "--quantize", "int3"),
      refused("net.ts", "--quantize", "int8", "--target", "stablehlo"),
      refused("net.ts", "--quantize", "int8", "--text", "ab.txt"),
      refused("net.ts", "--keep", "0"),
      refused("small", "--data", "x.npz", "--quantize", "int8"),
      refused("net.ts", "--keep", "(", "--quantize", "int8"),
      refused("small", "--text", "ab.txt"),
      refused("small", "--quantize", "int8", "--text", "absent.txt"),
      refused("none.ts", "--quantize", "int8"),
    ],
    [
      "kiln compile: --quantize must be int8, int4, f16, got int3\n",
      "kiln compile: --quantize is for js, wasm, native and webgpu, not for --target stablehlo\n  XLA quantizes by itself\n",
      "kiln compile: --text is for language models, and net.ts is none\n",
      "kiln compile: --keep is for --quantize\n  say --quantize int8 too\n",
      "kiln compile: --data is for models of tensors\n  a language model is compared on --text FILE\n",
      "kiln compile: --keep must be a pattern, got (\n  a part of a name is one: --keep lm_head\n",
      "kiln compile: --text is for --quantize\n  say --quantize int8 too\n",
      "kiln compile: --text absent.txt cannot be read\n  name a file of plain text\n",
      "GraphError: quantizeFunctions: no weight of fn is a matrix that products alone read\n  the functions have no parameters\n",
    ],
  );
});

test.run();
