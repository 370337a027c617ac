/**
 * Filters, morphology, colours, boxes and regions, against formulas that are written out one pixel
 * at a time.
 */
import { dim, input, type Tensor, tensor } from "@kiln-ml/ir";
import * as vision from "@kiln-ml/vision";
import { compile } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";

const [H, W] = [5, 4];
const picture = Array.from({ length: 2 * H * W }, (_, i) => Math.fround(Math.sin(3 * i) + 1));
const images = () => tensor(Float32Array.from(picture), { shape: [1, 2, H, W] });
const mirror = (i: number, n: number): number => (i < 0 ? -i : i >= n ? 2 * n - 2 - i : i);
const edge = (i: number, n: number): number => Math.min(Math.max(i, 0), n - 1);

/** What `of` makes of the pixels around each one; those outside are as `at` says, or left out. */
function around(reach: number, at: typeof mirror | undefined, of: (xs: number[]) => number) {
  const out: number[] = [];
  for (let c = 0; c < 2; c++)
    for (let i = 0; i < H; i++)
      for (let j = 0; j < W; j++) {
        const xs: number[] = [];
        for (let a = i - reach; a <= i + reach; a++)
          for (let b = j - reach; b <= j + reach; b++) {
            const isInside = a >= 0 && a < H && b >= 0 && b < W;
            if (isInside || at)
              xs.push(
                picture[c * H * W + (isInside ? a : at!(a, H)) * W + (isInside ? b : at!(b, W))]!,
              );
          }
        out.push(of(xs));
      }
  return out;
}

async function near(y: Tensor, want: readonly number[]): Promise<void> {
  const got = await compile(() => y, { target: "js" })();
  const data = [...(await got.data())] as number[];
  assert.is(data.length, want.length);
  data.forEach((v, i) => {
    assert.ok(Math.abs(v - want[i]!) < 1e-5, `element ${i} is ${v}, expected ${want[i]}`);
  });
}

const mean = (xs: number[]) => xs.reduce((a, b) => a + b, 0) / xs.length;
const middle = (xs: number[]) => xs.sort((a, b) => a - b)[(xs.length - 1) / 2]!;

test("filters are sums over a window whose border is mirrored, repeated or 0", async () => {
  const kernel = Array.from({ length: 9 }, (_, i) => Math.cos(i));
  const weighted = (xs: number[]) => xs.reduce((sum, x, i) => sum + x * kernel[i]!, 0);
  const k = tensor(kernel, { shape: [3, 3], dtype: "f32" });
  await near(vision.filter2d(images(), k), around(1, mirror, weighted));
  await near(vision.filter2d(images(), k, { border: "replicate" }), around(1, edge, weighted));
  await near(vision.boxBlur(images(), 3), around(1, mirror, mean));
  await near(vision.medianBlur(images(), 3, { border: "replicate" }), around(1, edge, middle));
  const [corner] = (await compile(() => vision.boxBlur(images(), 3, { border: "zeros" }), {
    target: "js",
  })().then((y) => y.data())) as unknown as number[];
  const inside = [0, 1, W, W + 1].map((i) => picture[i]!);
  assert.ok(Math.abs(corner! - inside.reduce((a, b) => a + b, 0) / 9) < 1e-5);
});

test("dilation is the largest of the pixels around, erosion the least", async () => {
  await near(
    vision.dilate(images(), 3),
    around(1, undefined, (xs) => Math.max(...xs)),
  );
  await near(
    vision.erode(images(), 5),
    around(2, undefined, (xs) => Math.min(...xs)),
  );
});

/** Hue, saturation, value of one colour, by sextants. */
function hsvOf([r, g, b]: readonly [number, number, number]): [number, number, number] {
  const [v, low] = [Math.max(r, g, b), Math.min(r, g, b)];
  const d = v - low;
  const sixth = !d
    ? 0
    : v === r
      ? ((g - b) / d + 6) % 6
      : v === g
        ? (b - r) / d + 2
        : (r - g) / d + 4;
  return [sixth / 6, v ? d / v : 0, v];
}

test("colours go to hue, saturation and value and back, and to grey", async () => {
  const colours = [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
    [0, 0, 0],
    [1, 1, 1],
    [0.2, 0.9, 0.4],
    [0.7, 0.1, 0.6],
    [0.5, 0.5, 0.1],
  ] as const;
  const planes = (of: readonly (readonly number[])[]) =>
    [0, 1, 2].flatMap((k) => of.map((c) => c[k]!));
  const x = tensor(Float32Array.from(planes(colours)), { shape: [1, 3, 2, 4] });
  await near(vision.rgbToHsv(x), planes(colours.map(hsvOf)));
  await near(vision.hsvToRgb(vision.rgbToHsv(x)), planes(colours));
  await near(
    vision.rgbToGray(x),
    colours.map(([r, g, b]) => 0.299 * r + 0.587 * g + 0.114 * b),
  );
});

type Box = readonly [number, number, number, number];

function iouOf(a: Box, b: Box): number {
  const side = (k: 0 | 1) => Math.max(0, Math.min(a[k + 2]!, b[k + 2]!) - Math.max(a[k]!, b[k]!));
  const area = (t: Box) => (t[2] - t[0]) * (t[3] - t[1]);
  const common = side(0) * side(1);
  return common / (area(a) + area(b) - common);
}

test("boxes overlap by intersection over union, and the best are kept", async () => {
  const boxes: Box[] = Array.from({ length: 12 }, (_, i) => {
    const [x, y] = [4 * Math.abs(Math.sin(i)), 4 * Math.abs(Math.cos(2 * i))];
    return [x, y, x + 2 + (i % 3), y + 3];
  });
  const scores = boxes.map((_, i) => Math.abs(Math.cos(5 * i)));
  const [b, s] = [
    tensor(Float32Array.from(boxes.flat()), { shape: [12, 4] }),
    tensor(Float32Array.from(scores)),
  ];
  await near(
    vision.boxIou(b, b),
    boxes.flatMap((p) => boxes.map((q) => iouOf(p, q))),
  );
  const order = scores.map((_, i) => i).sort((i, j) => scores[j]! - scores[i]!);
  const keep = (threshold: number, least: number): number[] => {
    const kept: number[] = [];
    for (const i of order)
      if (scores[i]! > least && kept.every((k) => iouOf(boxes[k]!, boxes[i]!) <= threshold))
        kept.push(i);
    return kept;
  };
  for (const [threshold, minScore] of [
    [0.3, 0],
    [0.6, 0.5],
  ] as const) {
    const want = keep(threshold, minScore);
    const all = [...want, ...new Array<number>(12 - want.length).fill(-1)];
    await near(vision.nms(b, s, { size: 12, threshold, minScore }), all);
    await near(vision.nms(b, s, { size: 2, threshold, minScore }), all.slice(0, 2));
  }
});

test("boxes of a number that is known at the run, none among them", async () => {
  const best = compile((b: Tensor, s: Tensor) => vision.nms(b, s, { size: 2 }), {
    target: "js",
    inputs: [[dim("N", { min: 0 }), 4], [dim("N", { min: 0 })]],
  });
  const none = tensor(new Float32Array(0), { shape: [0, 4] });
  assert.equal([...(await (await best(none, tensor(new Float32Array(0)))).data())], [-1, -1]);
  assert.equal([...(await (await best([[0, 0, 1, 1]], [0.5])).data())], [0, -1]);
});

test("regions are numbered as a reader meets them, with and without the diagonal", async () => {
  const mask = [
    [1, 1, 0, 0, 1],
    [0, 0, 1, 0, 1],
    [1, 0, 0, 0, 1],
    [1, 1, 1, 1, 1],
  ];
  await near(vision.connectedComponents(tensor(mask)), [
    ...[1, 1, 0, 0, 2],
    ...[0, 0, 1, 0, 2],
    ...[2, 0, 0, 0, 2],
    ...[2, 2, 2, 2, 2],
  ]);
  await near(vision.connectedComponents(tensor(mask), { connectivity: 4 }), [
    ...[1, 1, 0, 0, 2],
    ...[0, 0, 3, 0, 2],
    ...[2, 0, 0, 0, 2],
    ...[2, 2, 2, 2, 2],
  ]);
});

test("integers, halves and bool have the values that numbers have", async () => {
  const corners: Box[] = [
    [0, 0, 400, 400],
    [0, 0, 400, 300],
    [500, 500, 600, 600],
  ];
  const overlaps = corners.flatMap((p) => corners.map((q) => iouOf(p, q)));
  for (const dtype of ["i32", "u32", "f16", "f32"] as const) {
    const b = tensor(corners, { dtype });
    await near(vision.boxIou(b, b), overlaps);
    const scores = tensor([7, 9, 8], { dtype });
    await near(vision.nms(b, scores, { size: 3 }), [1, 2, -1]);
  }
  const row = [0, 5, 255, 7, 0, 9];
  for (const dtype of ["u8", "i32", "u32", "f32"] as const) {
    const x = tensor(row, { dtype }).reshape([1, 1, 2, 3]);
    assert.is(vision.erode(x, 3).dtype, dtype);
    await near(vision.erode(x, 3), [0, 0, 0, 0, 0, 0]);
    await near(vision.dilate(x, 3), [7, 255, 255, 7, 255, 255]);
  }
  const least = tensor([-(2 ** 31), 1, 2], { dtype: "i32" }).reshape([1, 1, 1, 3]);
  await near(vision.erode(least, 3), [-(2 ** 31), -(2 ** 31), 1]);
  const mask = tensor([[[[true, true, false, false, false]]]]);
  await near(vision.erode(mask, 3), [1, 0, 0, 0, 0]);
  await near(vision.dilate(mask, 3), [1, 1, 1, 0, 0]);
  const halves = tensor(new Array(9).fill(1), { dtype: "f16" }).reshape([1, 1, 3, 3]);
  await near(
    vision.boxBlur(halves, 3).convert("f32").sub(1).abs().greater(0.01),
    new Array(9).fill(0),
  );
});

test("a score that is no number is no box, and an empty mask has no regions", async () => {
  const b = tensor([
    [0, 0, 4, 4],
    [0, 0, 4, 5],
    [8, 8, 9, 9],
  ]);
  await near(vision.nms(b, tensor([1, Number.NaN, 2]), { size: 3 }), [2, 0, -1]);
  await near(vision.connectedComponents(tensor(new Float32Array(0), { shape: [0, 5] })), []);
});

test("what does not fit is refused in one line", () => {
  const x = input("x", "f32", [1, 3, 4, 4]);
  const messageOf = (run: () => unknown): string => {
    try {
      run();
    } catch (error) {
      return (error as Error).message.split("\n")[0]!;
    }
    return "";
  };
  const rows: readonly (readonly [() => unknown, string])[] = [
    [() => vision.boxBlur(x, 2), "boxBlur: the size must be an odd whole number, got 2"],
    [() => vision.dilate(x.sum(0), 3), "dilate: images are [N,C,H,W], got rank 3"],
    [
      () => vision.medianBlur(x, 3, { border: "wrap" as never }),
      'medianBlur: border must be reflect, replicate or zeros, got "wrap"',
    ],
    [
      () => vision.rgbToHsv(x.sum(1, { keepDims: true })),
      "rgbToHsv: images are [N,3,H,W], got [1,1,4,4]",
    ],
    [() => vision.rgbToHsv(x.convert("u8")), "rgbToHsv: images are floats of 0 to 1, got u8"],
    [() => vision.boxIou(x, x), "boxIou: boxes are [N,4], corners x1, y1, x2, y2, got [1,3,4,4]"],
    [
      () => vision.nms(tensor([[0, 0, 1, 1]]), tensor([1]), {} as never),
      "nms: the size is missing",
    ],
    [
      () => vision.nms(tensor([[0, 0, 1, 1]]), tensor([1, 2]), { size: 1 }),
      "nms: there must be one score a box: [2] for [1,4]",
    ],
    [() => vision.connectedComponents(x), "connectedComponents: a mask is [H,W], got [1,3,4,4]"],
  ];
  for (const [run, message] of rows) assert.is(messageOf(run), message);
});

test.run();
