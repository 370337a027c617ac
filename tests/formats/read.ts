/** Tensors as numbers, and refusals, for the tests of formats. No tests here. */
import { readFileSync } from "node:fs";
import { ArtifactError, type Constant } from "@kiln-ml/artifact";
import { type Dtype, fromHost, type HostArray, toHost } from "@kiln-ml/ir";
import * as assert from "uvu/assert";

const fixtures = "tests/fixtures/formats";

export const fixture = (name: string): Uint8Array => readFileSync(`${fixtures}/${name}`);

/** The elements as numbers. */
export function numbersOf({ dtype, data }: Constant): number[] {
  const form = toHost(dtype, []).constructor as new (buffer: ArrayBuffer) => HostArray;
  return [...fromHost(dtype, new form(data.slice().buffer))];
}

/** A tensor of Kiln's. */
export function constant(
  dtype: Dtype,
  shape: readonly number[],
  values: readonly number[],
): Constant {
  const host = toHost(dtype, values);
  return { dtype, shape, data: new Uint8Array(host.buffer) };
}

/** What a file holds, as Python saw it: dtype there, shape, the elements as text. */
export type Expected = Readonly<
  Record<string, readonly [string, readonly number[], readonly string[]]>
>;

// biome-ignore format: one table
const dtypes: Readonly<Record<string, Dtype>> = {
  float64: "f64", float32: "f32", float16: "f16", bfloat16: "bf16", int64: "i32", int32: "i32", int16: "i32",
  uint16: "i32", int8: "i8", uint8: "u8", uint64: "u32", uint32: "u32", bool: "bool",
};

const numberOf = (text: string): number =>
  text.endsWith("inf") ? Number(text.replace("inf", "Infinity")) : Number(text);

/** Compares to the bit; NaN is NaN. */
export function checkTensors(
  tensors: Readonly<Record<string, Constant>>,
  expected: Expected,
): void {
  assert.equal(Object.keys(tensors), Object.keys(expected));
  for (const [name, [dtype, shape, values]] of Object.entries(expected)) {
    const t = tensors[name]!;
    assert.is(t.dtype, dtypes[dtype], name);
    assert.equal(t.shape, shape, name);
    const found = numbersOf(t);
    assert.is(found.length, values.length, name);
    for (const [i, text] of values.entries())
      assert.ok(
        Object.is(found[i], numberOf(text)),
        `${name}[${i}]: ${found[i]}, expected ${text}`,
      );
  }
}

/** The message of the ArtifactError that `f` must throw. */
export function refusal(f: () => unknown): string {
  try {
    f();
  } catch (error) {
    assert.instance(error, ArtifactError, String(error));
    return (error as ArtifactError).message;
  }
  return assert.unreachable("nothing was thrown") as never;
}
