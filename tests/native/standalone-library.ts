/**
 * Builds standalone programs by the compilers that are here, with all warnings as errors, and calls
 * them through koffi.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Artifact } from "@kiln-ml/artifact";
import {
  type Dtype,
  fromHost,
  type HostArray,
  hostDataOf,
  type Tensor,
  toHost,
  type Value,
} from "@kiln-ml/ir";
import { compileProgram } from "../../compiler/src/all.ts";
import type { Program } from "../../compiler/src/program.ts";
import { type Standalone, standaloneOf } from "../../packages/kiln/src/cli/standalone/files.ts";
import { findCompiler } from "../../runtime/src/devices/native/compiler.ts";
import { openPool } from "../../runtime/src/devices/native/executor.ts";

export const strict = "-O1 -Wall -Wextra -Werror";

/** The compilers that are here, by name. */
export const compilersHere = ["gcc", "clang"].filter(
  (name) => spawnSync(name, ["--version"]).status === 0,
);

export const scratch = mkdtempSync(join(tmpdir(), "kiln-standalone-"));
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));

export function writeFiles(folder: string, { files }: Standalone): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, bytes] of files) writeFileSync(join(folder, name), bytes);
}

/** Runs make in a folder; what it said, if it failed. */
export function make(folder: string, ...how: string[]): string | undefined {
  const { status, stdout, stderr } = spawnSync("make", ["-C", folder, ...how], {
    encoding: "utf8",
  });
  return status === 0 ? undefined : `${stdout}${stderr}`;
}

interface Calls {
  readonly create: (path: string | null) => unknown;
  readonly run: (model: unknown, dims: number, inputs: number, outputs: number) => number;
  readonly free: (model: unknown) => void;
  readonly error: () => string;
  readonly state: (model: unknown, i: number) => unknown;
}

const compiler = await findCompiler().catch(() => undefined);

/** Memory that the collector does not move. */
const fixed = (bytes: number): Uint8Array => new Uint8Array(Math.max(4096, bytes));

/** A library for several programs takes the compiler once. */
export function joined(sample: readonly { program: Program; feeds(): Map<Tensor, Value> }[]) {
  const feeds = new Map<Tensor, Value>();
  for (const { feeds: of } of sample) for (const [t, v] of of()) feeds.set(t, v);
  const parts = sample.map(({ program }) => program);
  const program: Program = {
    inputs: [...new Set(parts.flatMap((p) => p.inputs))],
    outputs: parts.flatMap((p, i) => p.outputs.map((o) => ({ ...o, name: `${o.name}_${i}` }))),
    updates: [],
  };
  return { program, feeds };
}

/** What a leaf holds; of one that is only written any value will do. */
const hostOf = (t: Tensor, value: Value | undefined) => {
  if (t.op === "data") return hostDataOf(t);
  const zeros = () => new Array<number>((t.shape as number[]).reduce((a, b) => a * b, 1)).fill(0);
  return toHost(t.dtype, value?.data ?? zeros());
};

/** The artifact of a program with what its states are fed as weights. */
export function artifactOf(
  program: Program,
  feeds: ReadonlyMap<Tensor, Value>,
  lanes: number,
): Artifact {
  const options = { target: "native", features: [`lanes-${lanes}`] } as const;
  const { artifact, states } = compileProgram(program, options);
  const weights = states.map((t, i) => {
    const { dtype, shape } = artifact.signature.states[i]!;
    const host = hostOf(t, feeds.get(t)) as ArrayBufferView;
    const data = new Uint8Array(host.buffer, host.byteOffset, host.byteLength);
    return [artifact.signature.states[i]!.name, { dtype, shape, data }] as const;
  });
  return { ...artifact, weights: Object.fromEntries(weights) };
}

export interface Built {
  readonly lanes: number;
  readonly cc: string;
  readonly embed?: boolean;
  /** What the program is built for, if not this machine: "" for any of its kind. */
  readonly march?: string;
  /** Instead of `strict`. */
  readonly flags?: string;
}

let made = 0;

/** A program of one artifact as a library of this process. */
export class StandaloneModel {
  readonly folder: string;
  readonly prefix: string;
  readonly calls: Calls;
  readonly #artifact: Artifact;
  readonly address: (at: Uint8Array) => number;

  private constructor(
    artifact: Artifact,
    at: { folder: string; prefix: string },
    calls: Calls,
    address: (at: Uint8Array) => number,
  ) {
    this.folder = at.folder;
    this.prefix = at.prefix;
    this.calls = calls;
    this.#artifact = artifact;
    this.address = address;
  }

  /** Throws Error with what the compiler said. */
  static async build(artifact: Artifact, how: Built): Promise<StandaloneModel> {
    const { lanes, cc, embed = false, march, flags = strict } = how;
    const folder = join(scratch, `${made++}`);
    const program = standaloneOf(artifact, { name: "net", lanes, embed });
    writeFiles(folder, program);
    const target = march === undefined ? [] : [`MARCH=${march}`];
    const failure = make(folder, "libnet.so", `CC=${cc}`, `CFLAGS=${flags}`, ...target);
    if (failure !== undefined) throw new Error(failure);
    const pool = await openPool(compiler!);
    const library = pool.koffi.load(join(folder, "libnet.so"));
    const calls: Calls = {
      create: library.func("void *net_create(const char *path)") as never,
      run: library.func("int net_run(void *model, intptr_t, intptr_t, intptr_t)") as never,
      free: library.func("void net_free(void *model)") as never,
      error: library.func("const char *net_error(void)") as never,
      state: library.func("void *net_state_data(void *model, int i)") as never,
    };
    const address = (at: Uint8Array): number => pool.address(at);
    return new StandaloneModel(artifact, { folder, prefix: program.prefix }, calls, address);
  }

  get weights(): string {
    return join(this.folder, `${this.prefix}.weights`);
  }

  open(path: string | null = this.weights): unknown {
    const model = this.calls.create(path);
    if (!model) throw new Error(this.calls.error());
    return model;
  }

  /** Runs it; the outputs, whose shapes are given. Throws Error with what it says. */
  run(
    model: unknown,
    inputs: readonly Value[],
    shapes: readonly (readonly number[])[],
    dims: readonly number[] = [],
  ): Value[] {
    const { signature } = this.#artifact;
    const given = inputs.map((v) => {
      const host = toHost(v.dtype, v.data) as ArrayBufferView;
      const memory = fixed(host.byteLength);
      memory.set(new Uint8Array(host.buffer, host.byteOffset, host.byteLength));
      return memory;
    });
    const sizes = shapes.map((s) => s.reduce((a, b) => a * b, 1));
    const results = sizes.map((n) => fixed(8 * n));
    const table = (list: readonly Uint8Array[]): Uint8Array => {
      const memory = fixed(8 * list.length);
      const words = new BigInt64Array(memory.buffer);
      list.forEach((m, i) => {
        words[i] = BigInt(this.address(m));
      });
      return memory;
    };
    const numbers = fixed(8 * dims.length);
    new BigInt64Array(numbers.buffer).set(dims.map(BigInt));
    const held = [numbers, table(given), table(results)];
    const [d, x, y] = held.map((m) => this.address(m));
    if (this.calls.run(model, d!, x!, y!) !== 0) throw new Error(this.calls.error());
    return results.map((memory, i) => {
      const dtype = signature.outputs[i]!.dtype as Dtype;
      const host = toHost(dtype, new Array(sizes[i]!).fill(0)) as ArrayBufferView;
      const bytes = new Uint8Array(host.buffer, host.byteOffset, host.byteLength);
      bytes.set(memory.subarray(0, bytes.length));
      return { dtype, shape: shapes[i]!, data: fromHost(dtype, host as HostArray) };
    });
  }
}
