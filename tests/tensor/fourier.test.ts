/** Transforms, spectra over time and windows against their sums in double precision, on the reference, js, wasm and webgpu. */
import {
  dim,
  evaluate,
  fft,
  grad,
  input,
  makeValue,
  ShapeError,
  type Tensor,
  tensor,
  type Value,
} from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Program } from "../../compiler/src/program.ts";
import { guardedGpuDevice } from "../support/guarded-gpu.ts";
import { runProgram } from "../support/run.ts";
import { agreesOnJs, agreesOnWasm } from "../support/targets.ts";
import { gpuTest } from "../support/webgpu.ts";

type Complex = readonly [re: number, im: number];

/** Σ_j xⱼ·e^(sign·2πi·jk/n) for the first `bins` k. */
function dft(x: readonly Complex[], bins: number, sign: number): Complex[] {
  const n = x.length;
  return Array.from({ length: bins }, (_, k) => {
    let [re, im] = [0, 0];
    for (const [j, [a, b]] of x.entries()) {
      const t = (sign * 2 * Math.PI * ((j * k) % n)) / n;
      re += a * Math.cos(t) - b * Math.sin(t);
      im += a * Math.sin(t) + b * Math.cos(t);
    }
    return [re, im];
  });
}

const numbers = (size: number, k = 0): number[] =>
  Array.from({ length: size }, (_, i) => Math.fround(Math.sin(i * 1.9 + k * 0.7)));

const near = (got: ArrayLike<number>, want: readonly number[], digits: number, what: string) => {
  assert.is(got.length, want.length, what);
  const most = Math.max(1, ...want.map(Math.abs));
  for (const [i, w] of want.entries())
    assert.ok(Math.abs(got[i]! - w) <= digits * most, `${what} [${i}]: ${got[i]}, want ${w}`);
};

const resultOf = (y: Tensor, feeds: Map<Tensor, Value>, dims = {}): Value =>
  evaluate([y], { inputs: feeds, dims })[0]!;

const lengths = [1, 2, 3, 5, 8, 30, 257, 300];

for (const n of lengths) {
  const [re, im] = [numbers(n), numbers(n, 3)];
  const pairs = re.map((a, i): Complex => [a, im[i]!]);
  const z = input("z", "f64", [n, 2]);
  const x = input("x", "f64", [n]);
  const feeds = new Map([
    [z, makeValue("f64", [n, 2], pairs.flat())],
    [x, makeValue("f64", [n], re)],
  ]);

  test(`a line of ${n}: the four transforms`, () => {
    const half = Math.floor(n / 2) + 1;
    const of = (y: Tensor) => resultOf(y, feeds).data;
    near(of(fft.fft(z)), dft(pairs, n, -1).flat(), 1e-11, "fft");
    const back = dft(pairs, n, 1).map(([a, b]) => [a / n, b / n]);
    near(of(fft.ifft(z)), back.flat(), 1e-11, "ifft");
    const real = dft(
      re.map((a): Complex => [a, 0]),
      half,
      -1,
    );
    near(of(fft.rfft(x)), real.flat(), 1e-11, "rfft");
    near(of(fft.irfft(fft.rfft(x), { n })), re, 1e-11, "irfft");
  });
}

test("an axis in the middle, cut and filled up", () => {
  const x = input("x", "f64", ["B", 6, 2]);
  const value = makeValue("f64", [2, 6, 2], numbers(24));
  for (const n of [4, 6, 9]) {
    const y = resultOf(fft.rfft(x, { axis: 1, n }), new Map([[x, value]]), { B: 2 });
    const half = Math.floor(n / 2) + 1;
    assert.equal(y.shape, [2, half, 2, 2]);
    for (const [b, c] of [
      [0, 0],
      [1, 1],
    ] as const) {
      const line = Array.from(
        { length: n },
        (_, j): Complex => [j < 6 ? value.data[(b * 6 + j) * 2 + c]! : 0, 0],
      );
      const want = dft(line, half, -1);
      for (const [k, pair] of want.entries())
        near(
          y.data.slice(((b * half + k) * 2 + c) * 2, ((b * half + k) * 2 + c) * 2 + 2),
          pair,
          1e-11,
          `${n} ${k}`,
        );
    }
  }
});

test("complex numbers: parts, product, magnitude, angle", () => {
  const [a, b] = [fft.complex(tensor([3, 0]), tensor([4, -2])), fft.complex(tensor([1, 2]))];
  const of = (t: Tensor) => [...resultOf(t, new Map()).data];
  assert.equal(of(fft.magnitude(a)), [5, 2]);
  assert.equal(of(fft.multiply(a, b)), [3, 4, 0, -4]);
  assert.equal(of(fft.real(b)), [1, 2]);
  assert.equal(of(fft.imag(a)), [4, -2]);
  near(of(fft.angle(a)), [Math.atan2(4, 3), -Math.PI / 2], 1e-6, "angle");
});

const frame = 8;
const windowed = () => ({ hop: 3, window: fft.hannWindow(frame) });

test("stft is the transform of each frame, of a length that is a symbol", () => {
  const x = input("x", "f32", [2, dim("L", { min: 5 })]);
  for (const center of [true, false]) {
    const L = 20;
    const data = numbers(2 * L);
    const y = resultOf(
      fft.stft(x, frame, { ...windowed(), center }),
      new Map([[x, makeValue("f32", [2, L], data)]]),
      { L },
    );
    const frames = center ? 1 + Math.floor(L / 3) : 1 + Math.floor((L - frame) / 3);
    assert.equal(y.shape, [2, 5, frames, 2]);
    const at = (row: number, i: number) =>
      data[row * L + (i < 0 ? -i : i >= L ? 2 * (L - 1) - i : i)]!;
    for (let t = 0; t < frames; t++) {
      const line = Array.from({ length: frame }, (_, j): Complex => {
        const w = 0.5 - 0.5 * Math.cos((2 * Math.PI * j) / frame);
        return [w * at(1, t * 3 + j - (center ? 4 : 0)), 0];
      });
      for (const [k, pair] of dft(line, 5, -1).entries())
        near(
          y.data.slice(((5 + k) * frames + t) * 2, ((5 + k) * frames + t) * 2 + 2),
          pair,
          2e-6,
          `${k} ${t}`,
        );
    }
  }
});

test("istft undoes stft, and its gradient is that of the identity", () => {
  const x = input("x", "f64", [24]);
  const data = numbers(24);
  const back = fft.istft(fft.stft(x, frame, windowed()), frame, { ...windowed(), length: 24 });
  const feeds = new Map([[x, makeValue("f64", [24], data)]]);
  near(resultOf(back, feeds).data, data, 1e-6, "signal");
  near(
    resultOf(grad(back.mul(back).sum(), [x])[0]!, feeds).data,
    data.map((v) => 2 * v),
    1e-6,
    "gradient",
  );
});

test("windows", () => {
  const of = (t: Tensor) => [...resultOf(t, new Map()).data];
  near(of(fft.hannWindow(4)), [0, 0.5, 1, 0.5], 1e-7, "hann");
  near(of(fft.hannWindow(5, "symmetric")), [0, 0.5, 1, 0.5, 0], 1e-7, "hann");
  near(of(fft.hammingWindow(4)), [0.08, 0.54, 1, 0.54], 1e-6, "hamming");
  near(of(fft.blackmanWindow(4)), [0, 0.34, 1, 0.34], 1e-6, "blackman");
  assert.equal(of(fft.hannWindow(1)), [1]);
});

function compiled(): { program: Program; feeds: Map<Tensor, Value> } {
  const x = input("x", "f32", ["B", 24]);
  const z = fft.stft(x, frame, windowed());
  const power = fft.magnitude(z).square();
  const outputs = [power, grad(power.sum(), [x])[0]!, fft.istft(z, frame, windowed())].map(
    (value, i) => ({ name: `y${i}`, value }),
  );
  return {
    program: { inputs: [x], outputs, updates: [] },
    feeds: new Map([[x, makeValue("f32", [2, 24], numbers(48))]]),
  };
}

test("js and wasm give what the reference gives", async () => {
  const { program, feeds } = compiled();
  await agreesOnJs(program, feeds, { B: 2 });
  await agreesOnWasm(program, feeds, { B: 2 });
});

gpuTest("webgpu gives what the reference gives", async () => {
  const { program, feeds } = compiled();
  const { values } = await runProgram(program, feeds, { B: 2 }, await guardedGpuDevice(), {
    target: "webgpu",
  });
  for (const [i, v] of values.entries())
    near(
      v.data,
      [...resultOf(program.outputs[i]!.value, feeds, { B: 2 }).data],
      1e-4,
      `result ${i}`,
    );
});

const refused = (run: () => unknown, message: string): void => {
  try {
    run();
  } catch (error) {
    assert.instance(error, ShapeError);
    assert.is((error as Error).message, message);
    return;
  }
  assert.unreachable(message);
};

test("what does not fit is refused", () => {
  const x = input("x", "f32", [6]);
  refused(
    () => fft.fft(x),
    "fft: a complex tensor has a last axis of 2, got [6]\n  make one with fft.complex(re, im)",
  );
  refused(
    () => fft.rfft(input("x", "f32", ["N"])),
    "rfft: the length of axis 0 of [N,1] is a symbol\n  give n, or transform an axis of known length",
  );
  refused(
    () => fft.stft(x, 4, { window: fft.hannWindow(5) }),
    "stft: the window is [5], a frame has 4 elements\n  give a window of that size, as fft.hannWindow(4)",
  );
  refused(
    () => fft.stft(x, 12),
    "stft: a signal of 6 is too short to be mirrored by 6\n  take shorter frames, or center: false",
  );
});

test.run();
