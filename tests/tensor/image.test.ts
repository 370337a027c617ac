/**
 * Images made larger, read between their elements, and channels exchanged for places, against PyTorch's documentation.
 */
import * as ir from "@kiln-ml/ir";
import { evaluate, type Tensor, tensor } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { agrees, at, build, type Nd, nd, sample } from "./check.ts";

const numbersOf = (t: Tensor): number[] => [...evaluate([t])[0]!.data].map(Number);

/** Places and weights of one axis, after the documentation of PyTorch's interpolate. */
function taps(mode: string, aligned: boolean, from: number, to: number, scale: number, i: number) {
  const clip = (p: number) => Math.min(from - 1, Math.max(0, p));
  if (mode === "nearest") return [[clip(Math.floor(i / scale)), 1]] as const;
  if (mode === "nearestExact") return [[clip(Math.floor((i + 0.5) / scale)), 1]] as const;
  const p = aligned ? (to === 1 ? 0 : (i * (from - 1)) / (to - 1)) : (i + 0.5) / scale - 0.5;
  const [base, r] = [Math.floor(p), p - Math.floor(p)];
  if (mode === "linear") return [[clip(base), 1 - r], [clip(base + 1), r]] as const; // biome-ignore format: one line
  const a = -0.75;
  const w = (d: number) => {
    const x = Math.abs(d);
    if (x <= 1) return (a + 2) * x ** 3 - (a + 3) * x ** 2 + 1;
    return x < 2 ? a * x ** 3 - 5 * a * x ** 2 + 8 * a * x - 4 * a : 0;
  };
  return [-1, 0, 1, 2].map((k) => [clip(base + k), w(r - k)] as const);
}

// biome-ignore format: a table
const resizes = [
  [[1, 2, 3, 4], [6, 8]],
  [[1, 1, 4, 6], [3, 1]],
  [[1, 1, 1, 1], [2, 3]],
] as const;
for (const mode of ["nearest", "nearestExact", "linear", "cubic"] as const)
  for (const alignCorners of mode.startsWith("nearest") ? [false] : [false, true])
    for (const [shape, to] of resizes)
      test(`interpolate ${mode}${alignCorners ? " aligned" : ""} from [${shape}] to [${to}]`, () =>
        agrees(mode, {
          of: (x) =>
            ir.interpolate(x, { size: to, mode, ...(alignCorners ? { alignCorners } : {}) }),
          oracle: (x) =>
            build([shape[0], shape[1], ...to], (n, c, i, j) => {
              let sum = 0;
              for (const [p, u] of taps(mode, alignCorners, shape[2], to[0], to[0] / shape[2], i!))
                for (const [q, v] of taps(
                  mode,
                  alignCorners,
                  shape[3],
                  to[1],
                  to[1] / shape[3],
                  j!,
                ))
                  sum += u * v * at(x, n!, c!, p, q);
              return sum;
            }),
          inputs: [sample(shape)],
          symbols: [["N", "C", ...shape.slice(2)]],
          gradients: [0],
          // Places of static extents are found in f32, as runtimes do.
          tolerance: 1e4,
        }));

test("interpolate takes a scale, of symbolic extents too", () =>
  agrees("scale", {
    of: (x) => ir.interpolate(x, { scale: 2, mode: "linear" }),
    oracle: (x) =>
      build([1, 1, 8], (_n, _c, i) =>
        taps("linear", false, 4, 8, 2, i!).reduce((s, [p, w]) => s + w * at(x, 0, 0, p), 0),
      ),
    inputs: [sample([1, 1, 4])],
    symbols: [[1, 1, "L"]],
    gradients: [0],
    tolerance: 10,
  }));

test("pixelShuffle and pixelUnshuffle exchange channels and places, each the reverse of the other", async () => {
  await agrees("pixelShuffle", {
    of: (x) => ir.pixelShuffle(x, 2),
    oracle: (x) =>
      build([2, 1, 6, 4], (n, c, i, j) =>
        at(x, n!, c! * 4 + (i! % 2) * 2 + (j! % 2), Math.floor(i! / 2), Math.floor(j! / 2)),
      ),
    inputs: [sample([2, 4, 3, 2])],
    symbols: [["N", 4, "H", "W"]],
    gradients: [0],
  });
  await agrees("both", {
    of: (x) => ir.pixelUnshuffle(ir.pixelShuffle(x, 3), 3),
    oracle: (x) => x,
    inputs: [sample([1, 9, 2, 1])],
    symbols: [["N", 9, "H", "W"]],
    gradients: [0],
  });
});

/** Bilinear grid sampling by its definition. */
function sampled(x: Nd, grid: Nd, aligned: boolean, padding: string): Nd {
  const [n, c, h, w] = x.shape as [number, number, number, number];
  const place = (g: number, d: number): number => {
    let p = aligned ? ((g + 1) / 2) * (d - 1) : ((g + 1) * d - 1) / 2;
    if (padding === "border") p = Math.min(d - 1, Math.max(0, p));
    if (padding === "reflection") {
      const [low, span] = aligned ? [0, d - 1] : [-0.5, d];
      const m = Math.abs(p - low) % (2 * span);
      p = Math.min(d - 1, Math.max(0, low + (m > span ? 2 * span - m : m)));
    }
    return p;
  };
  const pixel = (b: number, k: number, i: number, j: number): number =>
    i < 0 || j < 0 || i >= h || j >= w ? 0 : at(x, b, k, i, j);
  return build([n, c, ...grid.shape.slice(1, 3)], (b, k, p, q) => {
    const [u, v] = [place(at(grid, b!, p!, q!, 0), w), place(at(grid, b!, p!, q!, 1), h)];
    const [i, j] = [Math.floor(v), Math.floor(u)];
    let sum = 0;
    for (const di of [0, 1])
      for (const dj of [0, 1])
        sum +=
          (1 - Math.abs(v - i - di)) * (1 - Math.abs(u - j - dj)) * pixel(b!, k!, i + di, j + dj);
    return sum;
  });
}

for (const padding of ["zeros", "border", "reflection"] as const)
  for (const alignCorners of [false, true])
    test(`gridSample with ${padding}${alignCorners ? ", aligned" : ""}, and its gradients`, () =>
      agrees("gridSample", {
        of: (x, g) => ir.gridSample(x, g, { padding, alignCorners }),
        oracle: (x, g) => sampled(x, g, alignCorners, padding),
        inputs: [
          sample([2, 2, 4, 5]),
          { shape: [2, 2, 3, 2], data: sample([24], 2).data.map((v) => v * 0.71 + 0.013) },
        ],
        symbols: [
          ["N", "C", "H", "W"],
          ["N", "P", "Q", 2],
        ],
        gradients: [0, 1],
        // Positions are f32.
        tolerance: 1e4,
      }));

test("affineGrid of the identity gives the centres, and reading there changes nothing", async () => {
  const theta = nd([1, 2, 3], [1, 0, 0, 0, 1, 0]);
  await agrees("affineGrid", {
    of: (t) => ir.affineGrid(t, [1, 1, 2, 3]),
    oracle: (t) =>
      build([1, 2, 3, 2], (_n, i, j, k) => {
        const [x, y] = [(2 * j! + 1) / 3 - 1, (2 * i! + 1) / 2 - 1];
        return at(t, 0, k!, 0) * x + at(t, 0, k!, 1) * y + at(t, 0, k!, 2);
      }),
    inputs: [theta],
    gradients: [0],
    tolerance: 1e3,
  });
  const x = tensor([[[[1, 2, 3], [4, 5, 6]]]]); // biome-ignore format: one line
  const grid = ir.affineGrid(tensor([[[1, 0, 0], [0, 1, 0]]]), [1, 1, 2, 3]); // biome-ignore format: one line
  numbersOf(ir.gridSample(x, grid)).forEach((v, i) => {
    assert.ok(Math.abs(v - (i + 1)) < 1e-5);
  });
});

test.run();
