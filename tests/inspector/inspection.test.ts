/** What an inspection says of a program, against what was compiled; and that every reference in it leads somewhere. */
import { readFileSync, statSync } from "node:fs";
import type { InspectedEdge, Inspection } from "@kiln-ml/inspector";
import fc from "fast-check";
import { compile, nn, optim, type Tensor } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import type { Program } from "../../compiler/src/program.ts";
import { sessionFor } from "../../packages/kiln/src/devices/session.ts";
import { inspectArtifact, inspectProgram } from "../../packages/kiln/src/inspect/inspect.ts";
import { networks, stepOfNetwork } from "../support/layers.ts";

const targets = ["js", "wasm", "webgpu"] as const;

async function inspected(program: Program, target: (typeof targets)[number]): Promise<Inspection> {
  const session = await sessionFor("js");
  return inspectProgram({ program, session, code: {} }, { target });
}

/** Complaints about an inspection; none if it holds together. */
function faults(x: Inspection): string[] {
  const found: string[] = [];
  const claim = (ok: boolean, text: string): void => {
    if (!ok) found.push(text);
  };
  const isNode = (id: number) => id >= 0 && id < x.nodes.length;
  for (const [id, n] of x.nodes.entries()) {
    claim(
      n.operands.every((o) => o >= 0 && o < id),
      `node ${id} is made of later ones`,
    );
    for (const k of n.kernels) {
      const { members, inlined } = x.kernels[k]!;
      claim([...members, ...inlined].includes(id), `kernel ${k} does not say it computes ${id}`);
    }
  }
  for (const [i, k] of x.kernels.entries()) {
    claim([...k.members, ...k.inlined].every(isNode), `kernel ${i} names no node`);
    claim(x.texts[k.text] !== undefined, `kernel ${i} has no text`);
    claim(k.bytes >= 0 && k.flops >= 0 && k.times >= 0, `kernel ${i} costs less than nothing`);
  }
  for (const e of x.edges) {
    claim(e.text.length > 0 && !e.text.includes("undefined"), `edge says ${e.text}`);
    const has = (kernel: number, access: RegExp) =>
      x.kernels[kernel]!.arguments.some((a) => a.node === e.node && access.test(a.access));
    const within = e.why === "regions" || holds(x, e);
    claim(
      within || (has(e.from, /write/) && has(e.to, /read/)),
      `${e.from} → ${e.to}: no such value`,
    );
  }
  for (const [slot, bytes] of x.memory.slots.entries()) {
    const lives = x.memory.lives.filter((l) => l.slot === slot);
    for (const [i, l] of lives.entries()) {
      claim(l.bytes <= bytes, `slot ${slot} of ${bytes} bytes holds ${l.bytes}`);
      claim(l.to <= (lives[i + 1]?.from ?? Infinity), `two values in slot ${slot} at once`);
    }
  }
  let size = x.stages[0]?.size ?? 0;
  for (const s of x.stages)
    if (s.removed && s.added) {
      size += s.added.length - s.removed.length;
      claim(s.size === size, `${s.name} leaves ${s.size} nodes, by what it did ${size}`);
    }
  return found;
}

/** A value that lies within another tensor is bound under that one's name. */
const holds = (x: Inspection, { from, node }: InspectedEdge): boolean =>
  !x.kernels[from]!.arguments.some((a) => a.node === node) &&
  x.kernels[from]!.members.includes(node);

test("every reference leads somewhere, whatever the network and the target", async () => {
  await fc.assert(
    fc.asyncProperty(networks(4), fc.constantFrom(...targets), async (network, target) => {
      assert.equal(faults(await inspected(stepOfNetwork(network), target)), []);
    }),
    { numRuns: 8 },
  );
});

const layersOf = (...layers: number[]) => layers.map((layer) => ({ layer, k: [0, 0, 0, 0, 0] }));

test("what a loop gives is not taken for what goes into it", async () => {
  const kind = { start: "tokens", batch: 0, widest: 1, loss: "crossEntropy", optimizer: "sgd" };
  const x = await inspected(stepOfNetwork({ ...kind, picks: layersOf(12) } as never), "js");
  assert.equal(faults(x), []);
  assert.ok(x.edges.some((e) => e.why === "regions"));
});

test("a part that a slice leaves out is not said to be read", async () => {
  const kind = { start: "image", batch: 0, widest: 1, loss: "squares", optimizer: "sgd" };
  const x = await inspected(stepOfNetwork({ ...kind, picks: layersOf(0, 11) } as never), "js");
  assert.equal(faults(x), []);
});

test("looking on changes nothing: the texts are those of a compilation alone", async () => {
  await fc.assert(
    fc.asyncProperty(networks(3), fc.constantFrom(...targets), async (network, target) => {
      const program = stepOfNetwork(network);
      const { artifact } = compileProgram(program, { target });
      const { texts, kernels } = await inspected(program, target);
      assert.equal(
        texts.map((t) => t.text),
        artifact.kernels.map((k) => k.text),
      );
      assert.equal(
        kernels.map((k) => k.text),
        artifact.plan.steps.map((s) => s.kernel),
      );
    }),
    { numRuns: 4 },
  );
});

class Net extends nn.Module {
  fc1 = new nn.Linear(4, 6);
  fc2 = new nn.Linear(6, 3);
  override forward(x: Tensor): Tensor {
    return this.fc2.forward(this.fc1.forward(x).relu());
  }
}

function trainingStep() {
  const net = new Net();
  const opt = new optim.SGD(net.parameters(), { lr: 0.1 });
  const fn = (x: Tensor, y: Tensor): Tensor => {
    const loss = nn.crossEntropy(net.forward(x), y);
    opt.step(loss);
    return loss;
  };
  return compile(fn, { inputs: [["N", 4], { shape: ["N"], dtype: "i32" }], target: "js" });
}

test("kernels know the module and the line that most of them is of", async () => {
  const x = await trainingStep().inspect({ dims: { N: 8 } });
  const modules = new Set(x.kernels.map((k) => k.module));
  for (const name of ["Net.fc1", "Net.fc2"]) assert.ok(modules.has(name), [...modules].join());
  assert.ok(x.nodes.some((n) => /inspection\.test\.\w+:\d+:\d+$/.test(n.site ?? "")));
  assert.equal(x.dims, [{ name: "N", min: 1, max: null, value: 8 }]);
  assert.equal(x.signature.inputs[0], { name: "arg0", dtype: "f32", shape: "[N,4]", bytes: 128 });
});

test("a profile has a row for each kernel, beside the limit that it is closest to", async () => {
  const args = [
    { data: new Float32Array(32), shape: [8, 4] },
    { data: new Int32Array(8), shape: [8] },
  ];
  const limits = { bytes: 1e9, flops: 2e9 };
  const x = await trainingStep().inspect({ profile: args, runs: 3, limits });
  assert.is(x.profile?.rows.length, x.kernels.length);
  assert.is(x.profile?.limits.from, "given");
  for (const { kernel, ms, bytes, flops, fraction, bound } of x.profile!.rows) {
    assert.ok(x.kernels[kernel] && ms >= 0);
    const least = Math.max(bytes / limits.bytes, flops / limits.flops) * 1e3;
    if (ms > 0) assert.ok(Math.abs(fraction - least / ms) < 1e-9);
    assert.is(bound, bytes / limits.bytes >= flops / limits.flops ? "memory" : "arithmetic");
  }
});

/** The word for why `reader` is not in the kernel of what it reads. */
async function whyOf(
  fn: (...args: Tensor[]) => unknown,
  inputs: readonly (readonly (number | string)[])[],
  options: object = {},
): Promise<string[]> {
  const x = await compile(fn as never, {
    inputs: inputs as never,
    target: "js",
    ...options,
  }).inspect();
  return [...new Set(x.edges.map((e) => e.why))];
}

test("each reason is told where it is the reason", async () => {
  const [n, m] = [
    [8, 8],
    [8, 8],
  ];
  assert.equal(await whyOf((a, b) => a.matmul(b).matmul(b), [n, m]), ["begins"]);
  assert.equal(await whyOf((a) => a.exp().log(), [n], { fusion: false }), ["off"]);
  // Rows one way, then the other.
  const turned = (a: Tensor) =>
    a
      .sub(a.max(1, { keepDims: true }))
      .exp()
      .sum(0);
  assert.ok((await whyOf(turned, [n])).every((w) => w === "loops" || w === "stored"));
  // The sum of all is known only when every row is done.
  const normed = (a: Tensor) => {
    const rows = a.matmul(a);
    return rows.div(rows.sum());
  };
  assert.equal(await whyOf(normed, [n]), ["loops"]);
});

test("an artifact tells of kernels and memory, and of no nodes", () => {
  const program = stepOfNetwork(fc.sample(networks(2), { numRuns: 1, seed: 3 })[0]!);
  const { artifact } = compileProgram(program, { target: "wasm" });
  const x = inspectArtifact(artifact);
  assert.equal(faults(x), []);
  assert.is(x.nodes.length, 0);
  assert.is(x.kernels.length, artifact.plan.steps.length);
});

test("options are checked", async () => {
  const rejects = async (options: object, message: string) => {
    const error = await trainingStep()
      .inspect(options)
      .then(
        () => undefined,
        (e: Error) => e.message,
      );
    assert.is(error, message);
  };
  await rejects({ profil: [] }, "inspect: there is no option profil\n  did you mean profile?");
  await rejects(
    { runs: 0 },
    "inspect: runs must be an integer of 1 or more, got 0\n  leave it out for 5",
  );
  await rejects(
    {
      profile: [new Float32Array(4), new Int32Array(1)].map((data, i) => ({
        data,
        shape: i ? [1] : [1, 4],
      })),
      target: "wasm",
    },
    'inspect: a profile is of js, on which it runs, and not of wasm\n  leave one of them out, or compile it with { target: "wasm" }',
  );
  const bare = compile((x: Tensor) => x.neg(), { name: "bare" });
  const error = await bare.inspect().catch((e: Error) => e.message);
  assert.is(
    error,
    'inspect: bare has neither declared inputs nor been called\n  pass { inputs: [["N", 784]] }',
  );
});

test("the README's picture is there, and small", () => {
  const [, path] =
    /!\[The inspector[^\]]*\]\(([^)]+)\)/.exec(readFileSync("README.md", "utf8")) ?? [];
  assert.ok(statSync(path!).size < 150_000);
});

test.run();
