/** Augmentations against plain JavaScript: what each sample may become, that samples differ, and that a key fixes all of it. */
import { augment } from "@kiln-ml/data";
import { GraphError, ShapeError } from "@kiln-ml/ir";
import { compile, random, type Tensor, tensor } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { at, c, close, compiled, h, image, n, sampleOf, size, w, x } from "./pictures.ts";

test("every augmentation is fixed by its key, differs with it, and takes any batch", async () => {
  const form = ["N", c, h, w];
  const all: [string, (key: Tensor, x: Tensor) => Tensor][] = [
    ["flip", (k, t) => augment.flip(k, t)],
    ["randomCrop", (k, t) => augment.randomCrop(k, t, { padding: 2 })],
    [
      "affine",
      (k, t) => augment.affine(k, t, { degrees: 30, translate: 0.2, scale: [0.8, 1.2], shear: 9 }),
    ],
    [
      "colorJitter",
      (k, t) => augment.colorJitter(k, t, { brightness: 0.4, contrast: 0.4, saturation: 0.4 }),
    ],
    ["cutout", (k, t) => augment.cutout(k, t, { size: 3 })],
    ["noise", (k, t) => augment.noise(k, t)],
  ];
  for (const [name, fn] of all) {
    const run = compiled(fn, form);
    const first = await run(x, [n, c, h, w], 1);
    assert.equal(await run(x, [n, c, h, w], 1), first, name);
    assert.not.equal(await run(x, [n, c, h, w], 2), first, name);
    const few = await run(x.slice(0, 3 * size), [3, c, h, w], 1);
    assert.is(few.length, 3 * size, name);
    const wasm = await compiled(fn, form, "wasm")(x, [n, c, h, w], 1);
    assert.ok(close(wasm, first, 2e-4), name);
  }
});

test("flip mirrors about half of the samples, whole", async () => {
  const y = await compiled((k, t) => augment.flip(k, t), ["N", c, h, w])(x, [n, c, h, w], 3);
  let turned = 0;
  for (let s = 0; s < n; s++) {
    const got = y.subarray(s * size, (s + 1) * size);
    const own = sampleOf((k, i, j) => at(s, k, i, j));
    const mirrored = sampleOf((k, i, j) => at(s, k, i, w - 1 - j));
    assert.ok(close(got, own, 0) || close(got, mirrored, 0));
    if (close(got, mirrored, 0)) turned++;
  }
  assert.ok(turned > 4 && turned < 20, `${turned}`);
  const never = await compiled((k, t) => augment.flip(k, t, { p: 0 }), ["N", c, h, w])(
    x,
    [n, c, h, w],
    3,
  );
  assert.equal(never, x);
  const always = compiled((k, t) => augment.flip(k, t, { p: 1, axis: "height" }), ["N", c, h, w]);
  assert.equal(
    (await always(x, [n, c, h, w], 3)).subarray(0, size),
    sampleOf((k, i, j) => at(0, k, h - 1 - i, j)),
  );
});

test("a random crop is the picture at one of all places, and reaches every one", async () => {
  const run = compiled(
    (k, t) => augment.randomCrop(k, t, { padding: 1, size: [5, 4] }),
    ["N", c, h, w],
  );
  const places = new Set<string>();
  for (let seed = 0; seed < 8; seed++) {
    const y = await run(x, [n, c, h, w], seed);
    for (let s = 0; s < n; s++) {
      const got = y.subarray(s * c * 20, (s + 1) * c * 20);
      const found: string[] = [];
      for (let top = -1; top <= 1; top++)
        for (let left = -1; left <= 3; left++)
          if (
            close(
              got,
              sampleOf((k, i, j) => at(s, k, i + top, j + left), 5, 4),
              0,
            )
          )
            found.push(`${top},${left}`);
      assert.is(found.length, 1);
      places.add(found[0]!);
    }
  }
  assert.is(places.size, 15);
});

/** The picture of sample s under a map, bilinear, in plain JavaScript. */
function warped(s: number, m: readonly number[]): Float32Array {
  const [cy, cx] = [(h - 1) / 2, (w - 1) / 2];
  return sampleOf((k, i, j) => {
    const [dx, dy] = [j - cx, i - cy];
    const px = m[0]! * dx + m[1]! * dy + m[2]! + cx;
    const py = m[3]! * dx + m[4]! * dy + m[5]! + cy;
    let sum = 0;
    for (const row of [Math.floor(py), Math.floor(py) + 1])
      for (const column of [Math.floor(px), Math.floor(px) + 1])
        sum += at(s, k, row, column) * (1 - Math.abs(py - row)) * (1 - Math.abs(px - column));
    return sum;
  });
}

test("warp takes each sample through its own map", async () => {
  const maps = Array.from({ length: n }, (_, s) => [
    Math.cos(s),
    Math.sin(s) * 0.9,
    s / 10 - 1,
    -Math.sin(s),
    Math.cos(s) * 1.1,
    0.3,
  ]);
  const warp = compile((t: Tensor, m: Tensor) => augment.warp(t, m), { target: "js" });
  const y = await (
    await warp(
      { data: x, shape: [n, c, h, w] },
      { data: Float32Array.from(maps.flat()), shape: [n, 2, 3] },
    )
  ).data();
  for (let s = 0; s < n; s++)
    assert.ok(
      close(y.subarray(s * size, (s + 1) * size) as Float32Array, warped(s, maps[s]!), 1e-5),
      `${s}`,
    );
});

test("affine turns by an angle within its bound, another for each sample", async () => {
  const run = compiled((k, t) => augment.affine(k, t, { degrees: 20 }), ["N", c, h, w]);
  const y = await run(x, [n, c, h, w], 4);
  const angles = new Set<number>();
  for (let s = 0; s < n; s++) {
    const got = y.subarray(s * size, (s + 1) * size);
    let [best, error] = [0, Infinity];
    for (let a = -20; a <= 20; a += 0.1) {
      const t = (a * Math.PI) / 180;
      const there = warped(s, [Math.cos(t), Math.sin(t), 0, -Math.sin(t), Math.cos(t), 0]);
      const off = there.reduce((most, v, i) => Math.max(most, Math.abs(v - got[i]!)), 0);
      if (off < error) [best, error] = [Math.round(a), off];
    }
    assert.ok(error < 0.02, `${error}`);
    angles.add(best);
  }
  assert.ok(angles.size > 8, `${angles.size}`);
  const still = compiled((k, t) => augment.affine(k, t), ["N", c, h, w]);
  assert.ok(close(await still(x, [n, c, h, w], 1), x));
  const moved = await compiled((k, t) => augment.affine(k, t, { scale: [2, 2] }), ["N", c, h, w])(
    x,
    [n, c, h, w],
    1,
  );
  assert.ok(close(moved.subarray(0, size), warped(0, [0.5, 0, 0, 0, 0.5, 0])));
});

test("cutout blanks one square, at a pixel of the picture", async () => {
  const y = await compiled((k, t) => augment.cutout(k, t, { size: 3, value: -1 }), ["N", c, h, w])(
    x,
    [n, c, h, w],
    5,
  );
  const middles = new Set<string>();
  for (let s = 0; s < n; s++) {
    const got = y.subarray(s * size, (s + 1) * size);
    const found: string[] = [];
    for (let i0 = 0; i0 < h; i0++)
      for (let j0 = 0; j0 < w; j0++) {
        const inside = (i: number, j: number) => Math.abs(i - i0) <= 1 && Math.abs(j - j0) <= 1;
        if (
          close(
            got,
            sampleOf((k, i, j) => (inside(i, j) ? -1 : at(s, k, i, j))),
            0,
          )
        )
          found.push(`${i0},${j0}`);
      }
    assert.is(found.length, 1);
    middles.add(found[0]!);
  }
  assert.ok(middles.size > 8);
});

test("brightness, contrast and saturation are what their formulas say, a factor a sample", async () => {
  const rgb = image(8, 3, 2, 2);
  const run = (options: Parameters<typeof augment.colorJitter>[2]) =>
    compiled((k, t) => augment.colorJitter(k, t, options), ["N", 3, 2, 2])(rgb, [8, 3, 2, 2], 6);
  const grey = (s: number, p: number) =>
    0.299 * rgb[s * 12 + p]! + 0.587 * rgb[s * 12 + 4 + p]! + 0.114 * rgb[s * 12 + 8 + p]!;
  const toward: Record<string, (s: number, p: number) => number> = {
    brightness: () => 0,
    contrast: (s) => (grey(s, 0) + grey(s, 1) + grey(s, 2) + grey(s, 3)) / 4,
    saturation: grey,
  };
  for (const [name, base] of Object.entries(toward)) {
    const y = await run({ [name]: 0.2 });
    const factors = new Set<number>();
    for (let s = 0; s < 8; s++) {
      let factor: number | undefined;
      for (let i = 0; i < 12; i++) {
        const [from, to, b] = [rgb[s * 12 + i]!, y[s * 12 + i]!, base(s, i % 4)];
        // Where it was kept in 0 … 1, or the picture is at the base, nothing can be told.
        if (to === 0 || to === 1 || Math.abs(from - b) < 0.05) continue;
        const f = (to - b) / (from - b);
        factor ??= f;
        assert.ok(Math.abs(f - factor) < 1e-4, name);
        assert.ok(f > 0.79 && f < 1.21, `${name} ${f}`);
      }
      factors.add(factor!);
    }
    assert.ok(factors.size > 6, name);
  }
  assert.ok(close(await run({}), rgb));
});

test("noise has the deviation that was asked for", async () => {
  const flat = new Float32Array(40_000);
  const y = await compiled((k, t) => augment.noise(k, t, { std: 0.5 }), ["N"])(flat, [40_000], 7);
  const mean = y.reduce((a, b) => a + b, 0) / y.length;
  const std = Math.sqrt(y.reduce((a, b) => a + (b - mean) ** 2, 0) / y.length);
  // Five standard errors: 0.5/√40000 and 0.5/√80000.
  assert.ok(Math.abs(mean) < 0.0125 && Math.abs(std - 0.5) < 0.009, `${mean} ${std}`);
});

test("a time shift moves a signal by whole steps, with zeros or around", async () => {
  const t = 7;
  const signal = Float32Array.from({ length: 16 * 2 * t }, (_, i) => i + 1);
  for (const wrap of [false, true]) {
    const run = compiled((k, v) => augment.timeShift(k, v, { most: 3, wrap }), ["N", 2, t]);
    const y = await run(signal, [16, 2, t], 8);
    const shifts = new Set<number>();
    for (let s = 0; s < 16; s++) {
      const found = [-3, -2, -1, 0, 1, 2, 3].filter((by) =>
        [0, 1].every((k) =>
          Array.from({ length: t }, (_, i) => i).every((i) => {
            const from = i - by;
            const inside = from >= 0 && from < t;
            const place = (s * 2 + k) * t + ((from + t) % t);
            return y[(s * 2 + k) * t + i] === (inside || wrap ? signal[place] : 0);
          }),
        ),
      );
      assert.is(found.length, 1);
      shifts.add(found[0]!);
    }
    assert.ok(shifts.size > 4);
  }
});

test("bytes become pictures with the channels first", async () => {
  const bytes = Uint8Array.from({ length: 12 }, (_, i) => i * 20);
  const y = await (
    await compile((t: Tensor) => augment.fromBytes(t), { target: "js" })({
      data: bytes,
      shape: [1, 2, 2, 3],
    })
  ).data();
  assert.ok(
    close(
      y as Float32Array,
      [0, 60, 120, 180, 20, 80, 140, 200, 40, 100, 160, 220].map((v) => v / 255),
    ),
  );
});

test("what is no batch of pictures, and options out of range, are refused", () => {
  const key = random.key(1);
  const flat = tensor([[1, 2]]);
  const picture = tensor(new Float32Array(16), { shape: [1, 1, 4, 4] });
  const refused = (
    call: () => unknown,
    Kind: typeof ShapeError | typeof GraphError,
    text: string,
  ) => assert.throws(call, (e: unknown) => e instanceof Kind && e.message === text);
  refused(
    () => augment.flip(key, flat),
    ShapeError,
    "flip: needs [n, channels, height, width], got [1,2]",
  );
  refused(
    () => augment.flip(key, picture, { p: 2 }),
    GraphError,
    "flip: p must be from 0 to 1, got 2\n  give a number of that range, or leave it out",
  );
  refused(
    () => augment.randomCrop(key, picture, { size: 5 }),
    GraphError,
    "randomCrop: height must be from 1 to 4, got 5\n  give a number of that range, or leave it out",
  );
  refused(
    () => augment.mixup(key, picture, tensor([1, 2])),
    ShapeError,
    "mixup: targets must be float[n, classes] for [1,1,4,4], got [2]\n  mix what oneHot makes of labels",
  );
  refused(
    () => augment.timeShift(key, picture, { most: 1 }),
    ShapeError,
    "timeShift: needs [n, channels, steps], got [1,1,4,4]",
  );
});

test.run();
