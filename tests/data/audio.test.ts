/**
 * Sound of a page as tensors: buffers and arrays, channels, rates. The buffer of a page is in
 * tests/browser.
 */
import { data } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";

const sine = (hz: number, rateHz: number, seconds: number): Float32Array =>
  Float32Array.from({ length: Math.round(rateHz * seconds) }, (_, i) =>
    Math.sin((2 * Math.PI * hz * i) / rateHz),
  );
const [left, right] = [Float32Array.of(1, 2, 3), Float32Array.of(3, 2, -1)];
const buffer = {
  numberOfChannels: 2,
  length: 3,
  sampleRate: 8000,
  getChannelData: (c: number) => [left, right][c]!,
};

test("a buffer is f32[channels, samples] with its own rate", () => {
  const { data: values, shape, rateHz, channels, length } = data.fromAudio(buffer);
  assert.equal([...values], [1, 2, 3, 3, 2, -1]);
  assert.equal([shape, rateHz, channels, length], [[2, 3], 8000, 2, 3]);
});

test("an array is one channel, a list has one each, mono is their mean", () => {
  assert.equal(data.fromAudio(left).shape, [1, 3]);
  assert.equal(data.fromAudio([left, right], { sourceHz: 16 }).rateHz, 16);
  const mono = data.fromAudio(buffer, { mono: true });
  assert.equal(
    [[...mono.data], mono.shape],
    [
      [2, 2, 1],
      [1, 3],
    ],
  );
});

test("another rate keeps what it can carry: the middle of a sine, to a thousandth", () => {
  for (const [from, to] of [
    [44_100, 16_000],
    [8_000, 16_000],
    [48_000, 16_000],
  ] as const) {
    const made = data.fromAudio(sine(440, from, 0.1), { sourceHz: from, rateHz: to });
    const want = sine(440, to, 0.1);
    assert.is(made.length, want.length);
    for (let i = 200; i < made.length - 200; i++)
      assert.ok(Math.abs(made.data[i]! - want[i]!) < 1e-3, `${from} → ${to} at ${i}`);
  }
});

test("what the lower rate cannot carry is gone, not folded to another pitch", () => {
  const { data: values } = data.fromAudio(sine(7_000, 48_000, 0.1), {
    sourceHz: 48_000,
    rateHz: 8_000,
  });
  const middle = values.subarray(100, values.length - 100);
  assert.ok(Math.max(...middle.map(Math.abs)) < 1e-2, `${Math.max(...middle.map(Math.abs))}`);
});

test("a constant stays one up to the ends", () => {
  const { data: values } = data.fromAudio(new Float32Array(50).fill(0.5), {
    sourceHz: 3,
    rateHz: 2,
  });
  for (const v of values) assert.ok(Math.abs(v - 0.5) < 1e-6, `${v}`);
});

const refusals: readonly (readonly [call: () => unknown, message: string])[] = [
  [
    () => data.fromAudio("a.wav" as never),
    'fromAudio: takes an AudioBuffer, a Float32Array, or one for each channel, got "a.wav"',
  ],
  [
    () => data.fromAudio([left, new Float32Array(2)]),
    "fromAudio: channels differ in length: 3, 2 samples",
  ],
  [
    () => data.fromAudio(left, { rateHz: 16_000 }),
    "fromAudio: an array does not say its rate, and rateHz asks for another\n  pass sourceHz, the samples a second of the array",
  ],
  [
    () => data.fromAudio(left, { sourceHz: -1 }),
    "fromAudio: sourceHz must be above 0, in samples a second, got -1",
  ],
];

test("what is no sound is refused", () => {
  for (const [call, message] of refusals) {
    let said = "nothing";
    try {
      call();
    } catch (error) {
      said = (error as Error).message;
    }
    assert.is(said, message);
  }
});

test.run();
