/** mixup and cutmix against plain JavaScript. */
import { augment } from "@kiln-ml/data";
import { compile, random, type Tensor, tensor } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { c, close, h, n, size, w, x } from "./pictures.ts";

const oneHot = (count: number): Float32Array =>
  Float32Array.from({ length: count * count }, (_, i) => (i % (count + 1) === 0 ? 1 : 0));

async function mixed(kind: "mixup" | "cutmix", alpha: number, seed: number, count = n) {
  const program = compile(
    (a: Tensor, b: Tensor) => augment[kind](random.key(seed), a, b, { alpha }),
    { target: "js" },
  );
  const [a, b] = await program(
    { data: x.slice(0, count * size), shape: [count, c, h, w] },
    { data: oneHot(count), shape: [count, count] },
  );
  return [(await a.data()) as Float32Array, (await b.data()) as Float32Array] as const;
}

/** The shares of a sample's targets: its own, and whose the rest is. */
function shares(y: Float32Array, s: number, count = n) {
  const row = y.subarray(s * count, (s + 1) * count);
  const other = row.findIndex((v, i) => i !== s && v > 0);
  assert.ok(Math.abs(row.reduce((a, b) => a + b, 0) - 1) < 1e-5);
  return { own: row[s]!, other: other < 0 ? s : other };
}

test("mixup mixes pictures and targets by one share, cutmix by the area that is left", async () => {
  const [mx, my] = await mixed("mixup", 0.4, 9);
  const [cx, cy] = await mixed("cutmix", 1, 9);
  for (let s = 0; s < n; s++) {
    const { own, other } = shares(my, s);
    for (let i = 0; i < size; i++) {
      const expected = own * x[s * size + i]! + (1 - own) * x[other * size + i]!;
      assert.ok(Math.abs(mx[s * size + i]! - expected) < 1e-5);
    }
    const cut = shares(cy, s);
    let kept = 0;
    for (let i = 0; i < size; i++) {
      const [got, mine] = [cx[s * size + i]!, x[s * size + i]!];
      assert.ok(got === mine || got === x[cut.other * size + i]!);
      if (got === mine) kept++;
    }
    // Two samples may agree at a pixel by chance.
    assert.ok(
      kept / size >= cut.own - 1e-5 && kept / size < cut.own + 0.1,
      `${kept / size} ${cut.own}`,
    );
  }
});

test("the shares of mixup are of Beta(α, α): mean ½, variance 1/(8α + 4)", async () => {
  const count = 400;
  for (const alpha of [0.2, 1, 3]) {
    const program = compile(
      (a: Tensor, b: Tensor, seed: Tensor) => augment.mixup(random.key(seed), a, b, { alpha })[1],
      { target: "js" },
    );
    const all: number[] = [];
    for (let seed = 0; seed < 4; seed++) {
      const a = { data: new Float32Array(count), shape: [count, 1] };
      const b = { data: oneHot(count), shape: [count, count] };
      const y = await (await program(a, b, tensor(seed, { dtype: "u32" }))).data();
      for (let s = 0; s < count; s++) all.push(shares(y as Float32Array, s, count).own);
    }
    const mean = all.reduce((a, b) => a + b, 0) / all.length;
    const variance = all.reduce((a, b) => a + (b - mean) ** 2, 0) / all.length;
    const expected = 1 / (8 * alpha + 4);
    assert.ok(Math.abs(mean - 0.5) < 5 * Math.sqrt(expected / all.length), `${alpha}: ${mean}`);
    assert.ok(Math.abs(variance / expected - 1) < 0.15, `${alpha}: ${variance} for ${expected}`);
  }
});

test("a batch of one is mixed with itself", async () => {
  const [mx, my] = await mixed("mixup", 1, 2, 1);
  assert.ok(close(mx, x.subarray(0, size)));
  assert.equal([...my], [1]);
});

test.run();
