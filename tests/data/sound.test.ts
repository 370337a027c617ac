/** Mel spectrograms against plain JavaScript, and masks: what they cover, and what they leave. */
import { augment } from "@kiln-ml/data";
import { compile, GraphError, random, type Tensor, tensor, zeros } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";

const [rateHz, size, hop, mels, length] = [8000, 64, 32, 6, 256];
const wave = Float32Array.from({ length: 2 * length }, (_, i) => Math.sin(i * i * 0.002));

/** The power of frame `t`, mirrored at the ends, in each bin. */
function power(x: Float32Array, t: number): number[] {
  const at = (i: number): number => {
    const j = i < 0 ? -i : i >= length ? 2 * (length - 1) - i : i;
    return x[j]!;
  };
  const frame = Array.from({ length: size }, (_, j) => {
    const hann = 0.5 - 0.5 * Math.cos((2 * Math.PI * j) / size);
    return hann * at(t * hop + j - size / 2);
  });
  return Array.from({ length: size / 2 + 1 }, (_, k) => {
    const angle = (j: number): number => (2 * Math.PI * j * k) / size;
    const re = frame.reduce((sum, v, j) => sum + v * Math.cos(angle(j)), 0);
    const im = frame.reduce((sum, v, j) => sum - v * Math.sin(angle(j)), 0);
    return re * re + im * im;
  });
}

/** Corner `i` of the triangles, in Hz. */
const corner = (i: number): number => {
  const top = 2595 * Math.log10(1 + rateHz / 2 / 700);
  return 700 * (10 ** ((top * i) / (mels + 1) / 2595) - 1);
};

function expected(x: Float32Array, band: number, t: number): number {
  const [low, middle, high] = [corner(band), corner(band + 1), corner(band + 2)];
  const sum = power(x, t).reduce((all, p, k) => {
    const hz = (k * rateHz) / size;
    return (
      all + p * Math.max(0, Math.min((hz - low) / (middle - low), (high - hz) / (high - middle)))
    );
  }, 0);
  return Math.log(Math.max(1e-10, sum));
}

for (const target of ["js", "wasm"] as const)
  test(`${target}: mel bands are sums of the power under triangles`, async () => {
    const program = compile((x: Tensor) => augment.logMel(x, { rateHz, size, hop, mels }), {
      target,
    });
    const y = await program({ data: wave, shape: [2, length] });
    const frames = 1 + length / hop;
    assert.equal(y.shape, [2, mels, frames]);
    const values = await y.data();
    for (let n = 0; n < 2; n++)
      for (let band = 0; band < mels; band++)
        for (let t = 0; t < frames; t++) {
          const got = Number(values[(n * mels + band) * frames + t]);
          const want = expected(wave.subarray(n * length, (n + 1) * length), band, t);
          assert.ok(Math.abs(got - want) < 2e-3 * Math.max(1, Math.abs(want)), `${got} ${want}`);
        }
  });

test("a mask covers whole bands and frames, with the mean of the sample, and no more than it may", async () => {
  const [n, bands, frames] = [16, 10, 12];
  const x = Float32Array.from({ length: n * bands * frames }, (_, i) => Math.sin(i));
  const program = compile(
    (a: Tensor) => augment.maskBands(random.key(3), a, { frequency: 4, time: 5 }),
    { target: "js" },
  );
  const y = await (await program({ data: x, shape: [n, bands, frames] })).data();
  const widths = new Set<number>();
  for (let s = 0; s < n; s++) {
    const from = s * bands * frames;
    const mean =
      x.subarray(from, from + bands * frames).reduce((a, b) => a + b, 0) / (bands * frames);
    const isHidden = (b: number, t: number): boolean => {
      const at = from + b * frames + t;
      if (y[at] === x[at]) return false;
      assert.ok(Math.abs(Number(y[at]) - mean) < 1e-5);
      return true;
    };
    const all = (count: number) => Array.from({ length: count }, (_, i) => i);
    const rows = all(bands).filter((b) => all(frames).every((t) => isHidden(b, t)));
    const columns = all(frames).filter((t) => all(bands).every((b) => isHidden(b, t)));
    assert.ok(rows.length <= 4 && columns.length <= 5, `${rows} ${columns}`);
    for (const list of [rows, columns])
      if (list.length) assert.is(list.at(-1)! - list[0]! + 1, list.length);
    for (const b of all(bands))
      for (const t of all(frames))
        assert.is(isHidden(b, t), rows.includes(b) || columns.includes(t));
    widths.add(rows.length);
  }
  assert.ok(widths.size > 2);
});

function refused(call: () => unknown, text: string): void {
  let message = "nothing was thrown";
  try {
    call();
  } catch (error) {
    assert.instance(error, GraphError);
    message = (error as Error).message;
  }
  assert.is(message, text);
}

test("sounds without a rate and masks that are too wide are refused", () => {
  const line = tensor(wave, { shape: [2, length] });
  refused(
    () => augment.logMel(line, { rateHz: 0 }),
    "logMel: rateHz must be above 0, got 0\n  readWav says what a file has",
  );
  refused(
    () => augment.logMel(line, { rateHz, mels: 0 }),
    "logMel: mels must be a whole number of 1 or more, got 0",
  );
  refused(() => augment.logMel(line, { rateHz, size: 1 }), "logMel: size must be 2 or more, got 1");
  refused(
    () => augment.maskBands(random.key(1), zeros([1, 8, 8]), { time: 9 }),
    "maskBands: time must be a whole number from 0 to 8, got 9",
  );
});

test.run();
