/**
 * Deformable convolution against its formula in float64, with gradients to all that it takes, on js
 * and wasm.
 */
import * as ir from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { agrees, at, build, type Nd, sample } from "./check.ts";

interface Setting {
  readonly name: string;
  readonly x: readonly [n: number, c: number, h: number, w: number];
  readonly outputs: number;
  readonly kernel: readonly [number, number];
  readonly regions: number;
  readonly stride?: number;
  readonly padding?: number;
  readonly dilation?: number;
  readonly groups?: number;
  readonly masked?: boolean;
}

const settings: readonly Setting[] = [
  { name: "plain", x: [2, 1, 3, 2], outputs: 2, kernel: [2, 2], regions: 1, padding: 1 },
  {
    name: "mask",
    x: [1, 1, 3, 3],
    outputs: 1,
    kernel: [2, 1],
    regions: 1,
    padding: 1,
    masked: true,
  },
  {
    name: "regions and groups",
    x: [1, 4, 2, 2],
    outputs: 2,
    kernel: [1, 2],
    regions: 2,
    groups: 2,
    masked: true,
  },
  {
    name: "stride and dilation",
    x: [1, 1, 5, 4],
    outputs: 1,
    kernel: [2, 2],
    regions: 1,
    stride: 2,
    dilation: 2,
    padding: 1,
  },
  { name: "one element", x: [1, 1, 1, 1], outputs: 1, kernel: [1, 1], regions: 1 },
  { name: "no images", x: [0, 1, 3, 3], outputs: 1, kernel: [2, 2], regions: 1 },
];

/** Extents of the result. */
function outOf({ x, kernel, stride = 1, padding = 0, dilation = 1 }: Setting): [number, number] {
  const of = (d: number, k: number) =>
    Math.floor((d + 2 * padding - (k - 1) * dilation - 1) / stride) + 1;
  return [of(x[2], kernel[0]), of(x[3], kernel[1])];
}

/** Bilinear between elements, 0 outside. */
function read(x: Nd, n: number, c: number, row: number, column: number): number {
  let sum = 0;
  for (const i of [Math.floor(row), Math.floor(row) + 1])
    for (const j of [Math.floor(column), Math.floor(column) + 1]) {
      const inside = i >= 0 && j >= 0 && i < x.shape[2]! && j < x.shape[3]!;
      const weight = (1 - Math.abs(row - i)) * (1 - Math.abs(column - j));
      if (inside) sum += weight * at(x, n, c, i, j);
    }
  return sum;
}

function formula(s: Setting, x: Nd, offset: Nd, w: Nd, mask: Nd | undefined): Nd {
  const { kernel, regions, groups = 1, stride = 1, padding = 0, dilation = 1 } = s;
  const [each, inRegion] = [s.x[1] / groups, s.x[1] / regions];
  return build([s.x[0], s.outputs, ...outOf(s)], (n, o, p, q) => {
    let sum = 0;
    for (let c = 0; c < each; c++)
      for (let k = 0; k < kernel[0] * kernel[1]; k++) {
        const channel = Math.floor((o! * groups) / s.outputs) * each + c;
        const place = Math.floor(channel / inRegion) * kernel[0] * kernel[1] + k;
        const [i, j] = [Math.floor(k / kernel[1]), k % kernel[1]];
        const row = p! * stride + i * dilation - padding + at(offset, n!, 2 * place, p!, q!);
        const column = q! * stride + j * dilation - padding + at(offset, n!, 2 * place + 1, p!, q!);
        const by = mask ? at(mask, n!, place, p!, q!) : 1;
        sum += at(w, o!, c, i, j) * by * read(x, n!, channel, row, column);
      }
    return sum;
  });
}

for (const s of settings)
  test(`deformConv, ${s.name}, and its gradients`, () => {
    const [places, out] = [s.regions * s.kernel[0] * s.kernel[1], outOf(s)];
    const inputs = [
      sample(s.x),
      sample([s.x[0], 2 * places, ...out], 2),
      sample([s.outputs, s.x[1] / (s.groups ?? 1), ...s.kernel], 3),
      ...(s.masked ? [sample([s.x[0], places, ...out], 4)] : []),
    ];
    const { stride = 1, padding = 0, dilation = 1, groups = 1 } = s;
    return agrees(s.name, {
      of: (x, offset, w, mask) =>
        ir.deformConv(x!, offset!, w!, {
          stride,
          padding,
          dilation,
          groups,
          ...(mask && { mask }),
        }),
      oracle: (x, offset, w, mask) => formula(s, x!, offset!, w!, mask),
      inputs,
      symbols: inputs.map(({ shape }, i) => (i === 2 ? shape : ["N", ...shape.slice(1)])),
      gradients: inputs.map((_, i) => i),
      // Places are found in f32 on devices.
      tolerance: 1e3,
    });
  });

test("DeformConv2d without offsets is Conv2d", () => {
  const x = ir.tensor(Array.from({ length: 50 }, (_, i) => Math.sin(i))).reshape([1, 2, 5, 5]);
  const options = { padding: 1, init: nn.init.constant(0.3), biasInit: nn.init.constant(0.5) };
  const [own, plain] = [new nn.DeformConv2d(2, 3, 3, options), new nn.Conv2d(2, 3, 3, options)];
  const y = own.forward(x, ir.zeros([1, 18, 5, 5]));
  const values = [y, plain.forward(x)];
  const [a, b] = ir.evaluate(values);
  for (const [i, v] of [...a!.data].entries())
    assert.ok(Math.abs(Number(v) - Number(b!.data[i])) < 1e-5);
  assert.is(new nn.DeformConv2d(3, 3).describe(), "? → 3, 3×3");
});

const f32 = (...shape: number[]) => ir.zeros(shape);
// biome-ignore format: a case a line
const refused: readonly (readonly [string, () => unknown])[] = [
  ["deformConv: x is [1,1,4,4], offset is [1,8,3], w is [1,1,2,2], not [N,C,...], [N,R,...] and [O,C,...] of one rank", () => ir.deformConv(f32(1, 1, 4, 4), f32(1, 8, 3), f32(1, 1, 2, 2))],
  ["deformConv: operands must be floats, got i32\n  convert it first: x.convert(\"f32\")", () => ir.deformConv(f32(1, 1, 4, 4), f32(1, 8, 3, 3).convert("i32"), f32(1, 1, 2, 2))],
  ["deformConv: groups is 0, not 1 or more", () => ir.deformConv(f32(1, 1, 4, 4), f32(1, 8, 3, 3), f32(1, 1, 2, 2), { groups: 0 })],
  ["deformConv: channels differ: x [1,2,4,4] has 2, w [1,1,2,2] takes 1 groups of 1\n  x must have groups times as many channels as w takes, and w a multiple of groups of rows", () => ir.deformConv(f32(1, 2, 4, 4), f32(1, 8, 3, 3), f32(1, 1, 2, 2))],
  ["deformConv: the kernel of w [1,1,K,2] has no known extents", () => ir.deformConv(f32(1, 1, 4, 4), f32(1, 8, 3, 3), ir.input("w", "f32", [1, 1, "K", 2]))],
  ["deformConv: offset must be [1,8,3,3], or a multiple of its second axis that divides the channels, got [1,9,3,3]\n  it has 2 numbers for each of the 4 places of the kernel", () => ir.deformConv(f32(1, 1, 4, 4), f32(1, 9, 3, 3), f32(1, 1, 2, 2))],
  ["deformConv: mask must be [1,4,3,3], got [1,1,3,3]\n  it has one number for each place of the kernel", () => ir.deformConv(f32(1, 1, 4, 4), f32(1, 8, 3, 3), f32(1, 1, 2, 2), { mask: f32(1, 1, 3, 3) })],
];
for (const [message, call] of refused)
  test(message.split("\n")[0]!, () => assert.throws(call, (e: Error) => e.message === message));

test.run();
