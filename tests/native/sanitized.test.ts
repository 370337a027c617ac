/**
 * Standalone programs under the address and undefined-behaviour sanitizers: nothing is read outside
 * of the memory of a run, nothing traps, and tensors without elements have no address. Results are
 * compared, so that a program that does nothing does not pass.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Dtype, fromHost, input, type Tensor, toHost, type Value } from "@kiln-ml/ir";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Program } from "../../compiler/src/program.ts";
import { standaloneOf } from "../../packages/kiln/src/cli/standalone/files.ts";
import { randomProgram } from "../support/graphs.ts";
import { evaluateProgram } from "../support/reference.ts";
import { runs } from "../support/setup.ts";
import { skip } from "../support/skip.ts";
import { artifactOf, joined, scratch, writeFiles } from "./standalone-library.ts";

/** Every tensor in memory of its own size; of those without elements, none. */
const driver = `#include "net.h"
#include <stdio.h>
#include <stdlib.h>
static size_t bytes_of(const net_tensor *t) {
  int64_t shape[16];
  return (size_t)net_shape(t, NULL, shape) * t->element_bytes;
}
int main(void) {
  net_model *model = net_create("net.weights");
  FILE *in = fopen("in", "rb"), *out = fopen("out", "wb");
  const void *x[NET_INPUTS + 1];
  void *y[NET_OUTPUTS + 1];
  for (int i = 0; i < NET_INPUTS; i++) {
    const size_t n = bytes_of(net_input(i));
    void *p = n ? malloc(n) : NULL;
    if (n && fread(p, 1, n, in) != n) return 1;
    x[i] = p;
  }
  for (int i = 0; i < NET_OUTPUTS; i++) {
    const size_t n = bytes_of(net_output(i));
    y[i] = n ? malloc(n) : NULL;
  }
  if (!model || net_run(model, NULL, x, y) != 0) return puts(net_error()), 2;
  for (int i = 0; i < NET_OUTPUTS; i++)
    if (y[i]) fwrite(y[i], 1, bytes_of(net_output(i)), out), free(y[i]);
  for (int i = 0; i < NET_INPUTS; i++) free((void *)x[i]);
  net_free(model);
  return fclose(in) | fclose(out);
}
`;

const sanitizers = "-fsanitize=address,undefined -fno-sanitize-recover=all";
const flags = `-O1 -std=c11 -march=native -ffp-contract=off -fwrapv ${sanitizers}`.split(" ");

/** Whether a program with sanitizers is built and runs here. */
const sanitized = (() => {
  const program = join(scratch, "sanitized");
  const built = spawnSync("gcc", [...flags, "-xc", "-", "-o", program], {
    input: "int main(void) { return 0; }",
  });
  return built.status === 0 && spawnSync(program).status === 0;
})();

const bytesOf = (v: ArrayBufferView): Uint8Array =>
  new Uint8Array(v.buffer, v.byteOffset, v.byteLength);

const tolerances: Partial<Record<Dtype, number>> = {
  f32: 3e-5,
  f64: 1e-12,
  f16: 2e-3,
  bf16: 0.016,
};

interface Case {
  readonly program: Program;
  readonly feeds: ReadonlyMap<Tensor, Value>;
}

function check({ program, feeds }: Case, lanes: number, name: string): void {
  const artifact = artifactOf(program, feeds, lanes);
  const folder = join(scratch, `${name}-${lanes}`);
  writeFiles(folder, standaloneOf(artifact, { name: "net", lanes }));
  writeFileSync(join(folder, "main.c"), driver);
  const given = program.inputs.map((t) => toHost(t.dtype, feeds.get(t)!.data) as ArrayBufferView);
  writeFileSync(join(folder, "in"), Buffer.concat(given.map(bytesOf)));
  const here = { cwd: folder, encoding: "utf8" } as const;
  const built = spawnSync("gcc", [...flags, "main.c", "net.c", "-o", "main", "-lm"], here);
  assert.is(built.status, 0, built.stderr);
  const ran = spawnSync("./main", here);
  assert.is(`${ran.stdout}${ran.stderr}`, "");
  assert.is(ran.status, 0);
  const out = readFileSync(join(folder, "out"));
  let at = 0;
  evaluateProgram(program, feeds).forEach(({ dtype, data }, i) => {
    const host = toHost(dtype, new Array(data.length).fill(0)) as ArrayBufferView;
    bytesOf(host).set(out.subarray(at, at + host.byteLength));
    at += host.byteLength;
    const got = fromHost(dtype, host as never);
    const scale = tolerances[dtype] ?? 0;
    const odd = [...data].findIndex((want, k) => {
      const off = Math.abs(got[k]! - want) <= scale * Math.max(1, Math.abs(want));
      return !(Object.is(got[k], want) || got[k] === want || off);
    });
    assert.is(odd, -1, `${program.outputs[i]!.name}: ${got[odd]}, want ${data[odd]}`);
  });
  assert.is(at, out.length);
}

/** Parts of wider rows, of every length up to two vectors and some: no flat loop runs over them. */
function rows(dtype: Dtype): Case {
  const feeds = new Map<Tensor, Value>();
  const outputs: { name: string; value: Tensor }[] = [];
  for (let n = 0; n <= 35; n++) {
    const x = input(`x${n}`, dtype, [3, n + 5]);
    const b = input(`b${n}`, dtype, [n]);
    for (const t of [x, b]) {
      const shape = t.shape as number[];
      const length = shape.reduce((p, q) => p * q, 1);
      const data = Float64Array.from({ length }, (_, i) => (i * 37) % 13);
      feeds.set(t, { dtype, shape, data });
    }
    const part = x.slice([0, 2], [3, n + 2]);
    outputs.push({ name: `y${n}`, value: part.mul(b).add(part) });
  }
  return { program: { inputs: [...feeds.keys()], outputs, updates: [] }, feeds };
}

const dtypes = ["f32", "i32", "u32", "bool", "f64", "i8", "u8", "f16", "bf16"] as const;

/** Programs of the property tests, as one. */
const random = (seed: number): Case =>
  joined(
    fc
      .sample(randomProgram({ maxDepth: 6, dtypes }), { numRuns: runs(16), seed })
      .map(({ program, feeds }) => ({ program, feeds: () => feeds() })),
  );

for (const lanes of [4, 8, 16]) {
  const cases: Record<string, () => Case> = {
    "rows of f32": () => rows("f32"),
    "rows of u8": () => rows("u8"),
    "random programs": () => random(100 + lanes),
  };
  for (const [name, of] of Object.entries(cases)) {
    const full = `${name}, ${lanes} lanes: the sanitizers have nothing to say`;
    if (sanitized) test(full, () => check(of(), lanes, name.replaceAll(" ", "-")));
    else skip(full, "gcc with sanitizers is not here");
  }
}

test.run();
