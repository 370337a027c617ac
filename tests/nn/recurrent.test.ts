/**
 * Recurrent layers against plain loops in double precision, with PyTorch's weights by PyTorch's
 * names: several layers, both directions, padding, and states carried on.
 */
import { type Constant, writeSafetensors } from "@kiln-ml/formats";
import { evaluate, grad, input, makeValue, type Tensor } from "@kiln-ml/ir";
import fc from "fast-check";
import { compile, loadWeights, nn } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { runs } from "../support/setup.ts";

const kinds = { RNN: 1, GRU: 3, LSTM: 4 } as const;
type Kind = keyof typeof kinds;
type Weights = Record<string, { shape: number[]; data: Float32Array }>;

const sigmoid = (v: number): number => 1 / (1 + Math.exp(-v));
const [inputs, hidden] = [3, 2];

/** Weights of a PyTorch layer, without pattern. */
function weightsOf(kind: Kind, layers: number, both: boolean): Weights {
  const rows = kinds[kind] * hidden;
  const out: Weights = {};
  let n = 0;
  const add = (name: string, ...shape: number[]) => {
    const size = shape.reduce((a, b) => a * b, 1);
    out[name] = { shape, data: Float32Array.from({ length: size }, () => Math.sin(12.9 * ++n)) };
  };
  for (let l = 0; l < layers; l++)
    for (const way of both ? ["", "_reverse"] : [""]) {
      add(`weight_ih_l${l}${way}`, rows, l ? hidden * (both ? 2 : 1) : inputs);
      add(`weight_hh_l${l}${way}`, rows, hidden);
      add(`bias_ih_l${l}${way}`, rows);
      add(`bias_hh_l${l}${way}`, rows);
    }
  return out;
}

/** W·x + b for each row. */
function linear(w: Weights, path: string, way: string, x: readonly number[]): number[] {
  const [m, b] = [w[`weight_${path}${way}`]!.data, w[`bias_${path}${way}`]!.data];
  return Array.from(b, (first, r) =>
    x.reduce((sum, v, k) => sum + v * m[r * x.length + k]!, first),
  );
}

function step(
  kind: Kind,
  gx: number[],
  gh: number[],
  h: number[],
  c: number[],
): [number[], number[]] {
  const at = (g: number[], gate: number, k: number) => g[gate * hidden + k]!;
  const both = (gate: number, k: number) => at(gx, gate, k) + at(gh, gate, k);
  if (kind === "RNN") return [h.map((_, k) => Math.tanh(both(0, k))), c];
  if (kind === "GRU")
    return [
      h.map((before, k) => {
        const n = Math.tanh(at(gx, 2, k) + sigmoid(both(0, k)) * at(gh, 2, k));
        const z = sigmoid(both(1, k));
        return (1 - z) * n + z * before;
      }),
      c,
    ];
  const next = c.map(
    (v, k) => sigmoid(both(1, k)) * v + sigmoid(both(0, k)) * Math.tanh(both(2, k)),
  );
  return [next.map((v, k) => sigmoid(both(3, k)) * Math.tanh(v)), next];
}

/**
 * One sequence of `length` steps, padded with zeros to those given; the last states of all cells.
 */
function byHand(
  kind: Kind,
  w: Weights,
  layers: number,
  both: boolean,
  xs: number[][],
  length: number,
) {
  let y = xs;
  const last: [number[], number[]][] = [];
  for (let l = 0; l < layers; l++) {
    const results = (both ? ["", "_reverse"] : [""]).map((way) => {
      let [h, c]: [number[], number[]] = [new Array(hidden).fill(0), new Array(hidden).fill(0)];
      const out = xs.map(() => new Array<number>(hidden).fill(0));
      for (let i = 0; i < length; i++) {
        const t = way ? length - 1 - i : i;
        const gates = [linear(w, `ih_l${l}`, way, y[t]!), linear(w, `hh_l${l}`, way, h)] as const;
        [h, c] = step(kind, ...gates, h, c);
        out[t] = h;
      }
      last.push([h, c]);
      return out;
    });
    y = xs.map((_, t) => results.flatMap((r) => r[t]!));
  }
  return { y, last };
}

async function layerOf(kind: Kind, layers: number, both: boolean, w: Weights) {
  const layer = new nn[kind](inputs, hidden, { layers, bidirectional: both });
  const file: Record<string, Constant> = {};
  for (const [name, { shape, data }] of Object.entries(w))
    file[name] = { dtype: "f32", shape, data: new Uint8Array(data.buffer) };
  await loadWeights(layer, writeSafetensors(file), { names: "pytorch" });
  return layer;
}

const near = (what: string, got: ArrayLike<number>, want: readonly number[]): void => {
  assert.is(got.length, want.length, what);
  want.forEach((v, i) => {
    assert.ok(Math.abs(got[i]! - v) < 1e-5, `${what}[${i}]: ${got[i]}, want ${v}`);
  });
};

const size = fc.record({
  kind: fc.constantFrom<Kind>("RNN", "GRU", "LSTM"),
  layers: fc.integer({ min: 1, max: 2 }),
  both: fc.boolean(),
  target: fc.constantFrom("js" as const, "wasm" as const),
  lengths: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 3 }),
});

test("layers, directions and padding agree with plain loops", async () => {
  await fc.assert(
    fc.asyncProperty(size, async ({ kind, layers, both, target, lengths }) => {
      const w = weightsOf(kind, layers, both);
      const layer = await layerOf(kind, layers, both, w);
      const [batch, steps] = [lengths.length, Math.max(...lengths) + 1];
      const x = Float32Array.from({ length: batch * steps * inputs }, (_, i) => Math.cos(3.7 * i));
      const run = compile((t: Tensor, n: Tensor) => layer.forward(t, { lengths: n }), {
        target,
        inputs: [["B", "T", inputs], { shape: ["B"], dtype: "i32" }],
      });
      const { y, state } = await run(
        { data: x, shape: [batch, steps, inputs] },
        Int32Array.from(lengths),
      );
      const hand = lengths.map((length, b) => {
        const row = (t: number) => [
          ...x.subarray((b * steps + t) * inputs, (b * steps + t + 1) * inputs),
        ];
        const xs = Array.from({ length: steps }, (_, t) => row(t));
        return byHand(kind, w, layers, both, xs, length);
      });
      near(
        "y",
        await y.data(),
        hand.flatMap((s) => s.y.flat()),
      );
      const cells = hand[0]!.last.map((_, i) => i);
      for (const k of state.keys())
        near(
          `state ${k}`,
          await state[k]!.data(),
          cells.flatMap((i) => hand.flatMap((s) => s.last[i]![k]!)),
        );
    }),
    { numRuns: runs(12) },
  );
});

test("a sequence in two parts, the state carried on, is the whole", async () => {
  for (const kind of Object.keys(kinds) as Kind[]) {
    const layer = await layerOf(kind, 2, false, weightsOf(kind, 2, false));
    const f = compile((x: Tensor) => {
      const whole = layer.forward(x);
      const first = layer.forward(x.slice([0, 0, 0], [2, 2, inputs]));
      const rest = layer.forward(x.slice([0, 2, 0], [2, 5, inputs]), { state: first.state });
      return [
        whole.y.slice([0, 2, 0], [2, 5, hidden]).sub(rest.y).abs().max(),
        ...whole.state,
        ...rest.state,
      ];
    });
    const data = Float32Array.from({ length: 30 }, (_, i) => Math.sin(i * i));
    const [off, ...states] = await f({ data, shape: [2, 5, inputs] });
    assert.ok((await off!.item()) < 1e-6);
    const half = states.length / 2;
    for (let i = 0; i < half; i++)
      near("state", await states[half + i]!.data(), [...(await states[i]!.data())]);
  }
});

test("gradients agree with differences, through padding as well", () => {
  for (const kind of Object.keys(kinds) as Kind[]) {
    nn.seed(3);
    const layer = new nn[kind](inputs, hidden, { bidirectional: true });
    const x = input("x", "f64", [2, 3, inputs]);
    const lengths = input("n", "i32", [2]);
    const { y, state } = layer.forward(x, { lengths });
    const loss = y.square().sum().add(state[0]!.mul(3).sum());
    const [slope] = grad(loss, [x]);
    const data = Array.from({ length: 18 }, (_, i) => Math.sin(2.3 * i));
    const at = (values: number[], t: Tensor) =>
      evaluate([t], {
        inputs: new Map([
          [x, makeValue("f64", [2, 3, inputs], values)],
          [lengths, makeValue("i32", [2], [3, 2])],
        ]),
      })[0]!.data;
    const found = at(data, slope!);
    for (let i = 0; i < data.length; i++) {
      const moved = (by: number) =>
        at(
          data.map((v, k) => (k === i ? v + by : v)),
          loss,
        )[0]!;
      const difference = (moved(1e-4) - moved(-1e-4)) / 2e-4;
      assert.ok(
        Math.abs(found[i]! - difference) < 1e-5,
        `${kind} ${i}: ${found[i]}, ${difference}`,
      );
    }
  }
});

test("dropout stands between layers only, and not in evaluation", async () => {
  nn.seed(1);
  const one = new nn.GRU(inputs, hidden, { dropout: 0.5 });
  const two = new nn.GRU(inputs, hidden, { dropout: 0.5, layers: 2 });
  const data = Float32Array.from({ length: 12 }, (_, i) => i - 6);
  const repeats = async (layer: nn.GRU) => {
    const f = compile((x: Tensor) => layer.forward(x).y);
    const call = async () => (await f({ data, shape: [2, 2, inputs] })).data();
    const [first, second] = [await call(), await call()];
    return first.join() === second.join();
  };
  assert.ok(await repeats(one));
  assert.not(await repeats(two));
  two.eval();
  assert.ok(await repeats(two));
});

for (const both of [false, true])
  test(`an LSTM with a projected state is PyTorch's${both ? ", both ways" : ""}: y, h and c by hand`, async () => {
    const [layers, proj, rows] = [2, 1, 4 * hidden];
    const file: Record<string, Constant> = {};
    const w: Weights = {};
    let n = 0;
    const add = (name: string, ...shape: number[]) => {
      const size = shape.reduce((a, b) => a * b, 1);
      const data = Float32Array.from({ length: size }, () => Math.sin(12.9 * ++n));
      w[name] = { shape, data };
      file[name] = { dtype: "f32", shape, data: new Uint8Array(data.buffer) };
    };
    for (let l = 0; l < layers; l++)
      for (const way of both ? ["", "_reverse"] : [""]) {
        add(`weight_ih_l${l}${way}`, rows, l ? proj * (both ? 2 : 1) : inputs);
        add(`weight_hh_l${l}${way}`, rows, proj);
        add(`bias_ih_l${l}${way}`, rows);
        add(`bias_hh_l${l}${way}`, rows);
        add(`weight_hr_l${l}${way}`, proj, hidden);
      }
    const layer = new nn.LSTM(inputs, hidden, { layers, bidirectional: both, projSize: proj });
    await loadWeights(layer, writeSafetensors(file), { names: "pytorch" });
    const length = 4;
    const xs = Array.from({ length }, (_, t) =>
      Array.from({ length: inputs }, (_, k) => Math.sin(t + 3 * k)),
    );
    let y: number[][] = xs;
    const last: [number[], number[]][] = [];
    for (let l = 0; l < layers; l++) {
      const ways = (both ? ["", "_reverse"] : [""]).map((way) => {
        let h = new Array<number>(proj).fill(0);
        let c = new Array<number>(hidden).fill(0);
        const out: number[][] = [];
        for (let i = 0; i < length; i++) {
          const t = way ? length - 1 - i : i;
          const gates = [linear(w, `ih_l${l}`, way, y[t]!), linear(w, `hh_l${l}`, way, h)] as const;
          const [inner, next] = step("LSTM", ...gates, c, c);
          const m = w[`weight_hr_l${l}${way}`]!.data;
          h = h.map((_, r) => inner.reduce((s, v, k) => s + v * m[r * hidden + k]!, 0));
          c = next;
          out[t] = h;
        }
        last.push([h, c]);
        return out;
      });
      y = xs.map((_, t) => ways.flatMap((r) => r[t]!));
    }
    const f = compile((x: Tensor) => {
      const r = layer.forward(x);
      return [r.y, ...r.state];
    });
    const [out, h, c] = await f({ data: Float32Array.from(xs.flat()), shape: [1, length, inputs] });
    near("y", await out!.data(), y.flat());
    near(
      "h",
      await h!.data(),
      last.flatMap(([v]) => v),
    );
    near(
      "c",
      await c!.data(),
      last.flatMap(([, v]) => v),
    );
    assert.equal([h!.shape, c!.shape], [[last.length, 1, proj], [last.length, 1, hidden]]); // biome-ignore format: shapes
  });

test("prints what it is", () => {
  assert.match(String(new nn.LSTM(3, { projSize: 2 })), "LSTM ? → 3 → 2 (not built)");
  const layer = new nn.LSTM(inputs, hidden, { layers: 2, bidirectional: true });
  assert.match(String(layer), "LSTM 3 → 2, 2 layers, both ways (240 parameters)");
});

test.run();
