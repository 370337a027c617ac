/**
 * Pixels of a page as tensors and back, without a page: bytes, layouts, sizes, and what is refused.
 */
import { compile, data, type Tensor, tensor } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";

/** Two rows of three pixels, each byte of its own. */
const bytes = Uint8ClampedArray.from({ length: 24 }, (_, i) => (i % 4 === 3 ? 255 : 10 * i));
const pixels = { data: bytes, width: 3, height: 2 };
const near = (got: ArrayLike<number>, want: readonly number[], by = 1e-6): void => {
  assert.is(got.length, want.length);
  for (const [i, w] of want.entries())
    assert.ok(Math.abs(got[i]! - w) <= by, `${i}: ${got[i]} for ${w}`);
};
const byte = (pixel: number, channel: number): number => bytes[4 * pixel + channel]!;
const all = [0, 1, 2, 3, 4, 5];

test("fromPixels: planes from 0 to 1, a batch of one", () => {
  const x = data.fromPixels(pixels);
  assert.equal(x.shape, [1, 3, 2, 3]);
  near(
    x.data,
    [0, 1, 2].flatMap((c) => all.map((p) => byte(p, c) / 255)),
  );
});

test("fromPixels: the layout hwc, four channels, grey", () => {
  const hwc = data.fromPixels(pixels, { layout: "hwc" });
  assert.equal(hwc.shape, [1, 2, 3, 3]);
  near(
    hwc.data,
    all.flatMap((p) => [0, 1, 2].map((c) => byte(p, c) / 255)),
  );
  const four = data.fromPixels(pixels, { channels: 4 });
  assert.equal(four.shape, [1, 4, 2, 3]);
  near(four.data.subarray(18), [1, 1, 1, 1, 1, 1]);
  const grey = data.fromPixels(pixels, { channels: 1 });
  assert.equal(grey.shape, [1, 1, 2, 3]);
  near(
    grey.data,
    all.map((p) => (0.299 * byte(p, 0) + 0.587 * byte(p, 1) + 0.114 * byte(p, 2)) / 255),
  );
});

test("fromPixels: (v − mean) / std, one a channel or one for all", () => {
  const mean = [0.485, 0.456, 0.406];
  const std = [0.229, 0.224, 0.225];
  const x = data.fromPixels(pixels, { mean, std });
  near(
    x.data,
    [0, 1, 2].flatMap((c) => all.map((p) => (byte(p, c) / 255 - mean[c]!) / std[c]!)),
    1e-5,
  );
  near(
    data.fromPixels(pixels, { mean: 0.5, std: 0.5 }).data,
    [0, 1, 2].flatMap((c) => all.map((p) => byte(p, c) / 127.5 - 1)),
  );
});

test("fromPixels: another size, as resizeImage has it", () => {
  const x = data.fromPixels(pixels, { size: [4, 6], layout: "hwc", channels: 4 });
  assert.equal(x.shape, [1, 4, 6, 4]);
  const plain = { data: Uint8Array.from(bytes), shape: [2, 3, 4] as const };
  near(
    x.data,
    [...data.resizeImage(plain, 4, 6).data].map((v) => v / 255),
  );
});

test("toPixels undoes fromPixels, whatever the layout, the channels and the scale", async () => {
  for (const layout of ["chw", "hwc"] as const)
    for (const channels of [1, 3, 4] as const) {
      const how = { layout, mean: 0.4, std: 0.3 };
      const x = data.fromPixels(pixels, { ...how, channels });
      const back = await data.toPixels(x, how);
      assert.equal([back.width, back.height], [3, 2]);
      const again = data.fromPixels(back, { ...how, channels });
      near(again.data, [...x.data], 0.5 / (255 * 0.3) + 1e-5);
      if (channels > 1) assert.equal([...back.data], [...bytes]);
    }
});

test("toPixels takes a tensor and a result, clamps, and leaves bytes as they are", async () => {
  const mask = tensor([
    [0, 0.5],
    [1, 7],
  ]);
  const wanted = [0, 128, 255, 255].flatMap((v) => [v, v, v, 255]);
  assert.equal([...(await data.toPixels(mask)).data], wanted);
  const f = compile((x: Tensor) => x.mul(2), { target: "js" });
  const twice = await f([
    [-1, 0.25],
    [0.5, 1],
  ]);
  assert.equal([...(await data.toPixels(twice)).data], wanted);
  const whole = { data: Uint8Array.of(0, 128, 255, 9), shape: [1, 2, 2] };
  const grey = [0, 128, 255, 9].flatMap((v) => [v, v, v, 255]);
  assert.equal([...(await data.toPixels(whole)).data], grey);
});

test("toPixels reads values and not how they are stored: halves are floats, true is white", async () => {
  const mask = tensor([
    [0, 0.5],
    [1, 7],
  ]);
  const wanted = [0, 128, 255, 255].flatMap((v) => [v, v, v, 255]);
  for (const dtype of ["f64", "f32", "f16", "bf16"] as const)
    assert.equal([...(await data.toPixels(mask.convert(dtype))).data], wanted, dtype);
  const above = [0, 0, 255, 255].flatMap((v) => [v, v, v, 255]);
  assert.equal([...(await data.toPixels(mask.greater(0.5))).data], above);
});

test("a compiled function takes what fromPixels gives", async () => {
  const f = compile((x: Tensor) => x.sum([2, 3]), { target: "js" });
  const y = await f(data.fromPixels(pixels));
  assert.equal(y.shape, [1, 3]);
});

const refusals: readonly (readonly [call: () => unknown, message: string])[] = [
  [
    () => data.fromPixels(3 as never),
    "fromPixels: takes a canvas, an image, a video, a frame or an ImageData, got 3",
  ],
  [
    () => data.fromPixels({ videoWidth: 0, videoHeight: 0, width: 4, height: 4 } as never),
    "fromPixels: the source has 0 × 0 pixels\n  wait until it is loaded: image.decode(), or a video's event loadeddata",
  ],
  [
    () => data.fromPixels({ width: 2, height: 2 }),
    "fromPixels: nothing can be drawn here\n  in Node, use decodeImage, or pass { data, width, height }",
  ],
  [
    () => data.fromPixels({ ...pixels, width: 2 }),
    "fromPixels: 2 × 2 pixels are 16 bytes, got 24\n  pass red, green, blue and alpha of each",
  ],
  [
    () => data.fromPixels(pixels, { channels: 2 as never }),
    "fromPixels: channels must be 1, 3 or 4, got 2",
  ],
  [
    () => data.fromPixels(pixels, { mean: [1, 2] }),
    "fromPixels: mean must be a number, or one for each of 3 channels, got [1,2]",
  ],
  [() => data.fromPixels(pixels, { std: 0 }), "fromPixels: std must not be 0"],
  [
    () => data.fromPixels(pixels, { size: [0, 2] }),
    "fromPixels: size must be [height, width] in whole pixels, got [0,2]",
  ],
  [
    () => data.fromPixels(pixels, { layout: "nchw" as never }),
    'fromPixels: layout must be "chw" or "hwc", got "nchw"',
  ],
  [
    () => data.toPixels({ data: new Float32Array(8), shape: [2, 2, 2] }),
    "toPixels: [2,2,2] is no picture of layout chw\n  pass [height, width], or 1, 3 or 4 channels and a batch of at most one",
  ],
  [
    () => data.toPixels({ data: new Float32Array(5), shape: [2, 2] }),
    "toPixels: a picture of [2,2] has 4 values, got 5",
  ],
  [
    () => data.toPixels([1, 2] as never),
    "toPixels: takes a tensor, or { data, shape }, got Array\n  pass a picture: [3, height, width]",
  ],
  [
    () => data.toPixels({ data: 3, shape: [1, 1] } as never),
    "toPixels: data must be an array of numbers, got 3",
  ],
];

test("what is no picture is refused", async () => {
  for (const [call, message] of refusals) {
    const said = await Promise.resolve()
      .then(call)
      .then(
        () => "nothing",
        (error: Error) => error.message,
      );
    assert.is(said, message);
  }
});

test.run();
