/**
 * One program of Kiln on the engine: exported when it is first run with its extents, once for each
 * choice of them. Runs give the engine the batch, and say under which numbers it is to keep what
 * comes out.
 */
import { type Dim, ShapeError, type Tensor } from "@kiln-ml/ir";
import { type Argument, type ExportedProgram, exportStableHlo } from "@kiln-ml/stablehlo";
import type { EngineInput } from "kiln-ml";
import { bytesOfHost, type XlaArray } from "./array.ts";
import type { XlaDevice } from "./device.ts";

interface Loaded {
  readonly number: number;
  readonly args: readonly Argument[];
  readonly results: readonly {
    readonly dtype: Argument["dtype"];
    readonly shape: readonly number[];
  }[];
}

/** Symbols that an input's axis is named by, with the extents at hand. */
function dimsOf(inputs: readonly Tensor[], shapes: readonly (readonly number[])[]) {
  const dims: Record<string, number> = {};
  for (const [i, { shape, attrs }] of inputs.entries())
    for (const [axis, d] of (shape as readonly Dim[]).entries()) {
      const n = shapes[i]![axis]!;
      if (typeof d === "number") {
        if (d !== n) throw differs(String(attrs.name), axis, d, n);
        continue;
      }
      const name = String(d);
      if (!d.symbols.has(name)) continue;
      if (dims[name] !== undefined && dims[name] !== n)
        throw differs(String(attrs.name), axis, dims[name], n);
      dims[name] = n;
    }
  return dims;
}

const differs = (name: string, axis: number, want: number, got: number): ShapeError =>
  new ShapeError(
    `xla: axis ${axis} of ${name} is ${got}, the program has ${want} there\n  give arguments of the shapes that it was defined for`,
  );

export class XlaProgram {
  readonly #device: XlaDevice;
  readonly #program: ExportedProgram;
  readonly #states: ReadonlyMap<Tensor, number>;
  readonly #loaded = new Map<string, Promise<Loaded>>();

  constructor(device: XlaDevice, program: ExportedProgram, states: readonly Tensor[]) {
    this.#device = device;
    this.#program = program;
    this.#states = new Map(states.map((t, i) => [t, i]));
  }

  /** The outputs; states hold their new values afterwards. */
  async run(inputs: readonly EngineInput[], states: readonly XlaArray[]): Promise<XlaArray[]> {
    const { number, args, results } = await this.#for(inputs.map((x) => x.shape as number[]));
    const parts: Uint8Array[] = [];
    const given = args.map(({ leaf, dtype }) => {
      const state = this.#states.get(leaf);
      if (state !== undefined) return { id: states[state]!.id };
      const x = inputs[this.#program.inputs.indexOf(leaf)]!;
      if (this.#device.owns(x)) return { id: x.id };
      parts.push(bytesOfHost("run", x.data, dtype, x.shape as number[]));
      return { part: parts.length - 1 };
    });
    const count = this.#program.outputs.length;
    const outputs = results.slice(0, count).map((r) => this.#device.array(r.dtype, r.shape));
    const updated = this.#program.updates.map(([param]) => states[this.#states.get(param)!]!.id);
    const ids = [...outputs.map((a) => a.id), ...updated];
    await this.#device.run({ program: number, args: given, results: ids }, parts);
    return outputs;
  }

  #for(shapes: readonly (readonly number[])[]): Promise<Loaded> {
    const key = shapes.join(";");
    const known = this.#loaded.get(key);
    if (known) return known;
    const loading = this.#load(dimsOf(this.#program.inputs, shapes));
    this.#loaded.set(key, loading);
    loading.catch(() => this.#loaded.delete(key));
    return loading;
  }

  async #load(dims: Readonly<Record<string, number>>): Promise<Loaded> {
    const { mesh, shard } = this.#device;
    const { text, args, results } = exportStableHlo(this.#program, { dims, mesh, shard });
    const number = this.#device.count();
    const placed = (x: (typeof args)[number] | (typeof results)[number]) => ({
      dtype: x.dtype,
      shape: x.shape,
      spec: x.spec!,
    });
    const request = {
      op: "load" as const,
      program: number,
      args: args.map(placed),
      results: results.map(placed),
    };
    await this.#device.request(request, [new TextEncoder().encode(text)]);
    return { number, args, results };
  }
}
