/**
 * Pending nodes as programs: compiled once a structure and kept, run on the device, their results
 * put into the values that tensors still have. Knows no kernel; `graph.ts` says what is pending.
 */
import { input, type Tensor } from "kiln-ml/ir";
import type { ProgramDevice } from "kiln-ml/programs";
import type { DeviceArray, Executable, Input } from "kiln-ml/runtime";
import type { Node, Value } from "./value.ts";

/** What one run computes. */
export interface Job {
  readonly key: string;
  readonly nodes: readonly Node[];
  readonly leaves: readonly Value[];
  readonly outputs: readonly Value[];
}

let runs = 0;

/**
 * The nodes as a job. Its key says which templates are applied to which values, and which results
 * are wanted; leaves count by type, so that the next step of a loop has the same.
 */
export function jobOf(nodes: readonly Node[]): Job {
  const run = ++runs;
  const leaves: Value[] = [];
  const outputs: Value[] = [];
  let count = 0;
  let key = "";
  const number = (value: Value): void => {
    value.mark = run;
    value.number = count++;
  };
  for (const { template, inputs, outputs: results } of nodes) {
    key += `${template.id}(`;
    for (const value of inputs) {
      if (value.mark !== run) {
        number(value);
        leaves.push(value);
        key += value.type.text;
      }
      key += `${value.number},`;
    }
    key += ")";
    for (const value of results) {
      number(value);
      const kept = value.tensors > 0;
      if (kept) outputs.push(value);
      key += kept ? "!" : ".";
    }
  }
  return { key, nodes, leaves, outputs };
}

/** The job as a program of the IR. */
function programOf({ nodes, leaves, outputs }: Job) {
  const tensors = new Map<Value, Tensor>();
  const inputs = leaves.map((value, i) => {
    const leaf = input(`x${i}`, value.type.dtype, value.type.shape);
    tensors.set(value, leaf);
    return leaf;
  });
  for (const node of nodes) {
    const made = node.template.build(node.inputs.map((value) => tensors.get(value)!));
    for (const [i, value] of node.outputs.entries()) tensors.set(value, made[i]!);
  }
  const named = outputs.map((value, i) => ({ name: `y${i}`, value: tensors.get(value)! }));
  return { inputs, outputs: named, updates: [] };
}

const mostKept = 256;

export class Programs {
  readonly #device: ProgramDevice;
  readonly #kept = new Map<string, Executable>();
  compiled = 0;
  runs = 0;

  constructor(device: ProgramDevice) {
    this.#device = device;
  }

  /** Whether a run is over when the call returns. */
  get isNow(): boolean {
    return this.#device.compileNow !== undefined;
  }

  runNow(job: Job): void {
    let executable = this.#known(job.key);
    if (!executable) {
      executable = this.#device.compileNow!(programOf(job), "tfjs");
      this.#keep(job.key, executable);
    }
    this.runs += 1;
    finish(job, executable.runNow(job.leaves.map((value) => this.#inputOf(value))));
  }

  async run(job: Job): Promise<void> {
    let executable = this.#known(job.key);
    if (!executable) {
      executable = await this.#device.compile(programOf(job), "tfjs");
      this.#keep(job.key, executable);
    }
    this.runs += 1;
    finish(job, await executable.run(job.leaves.map((value) => this.#inputOf(value))));
  }

  #known(key: string): Executable | undefined {
    const found = this.#kept.get(key);
    if (!found) return undefined;
    this.#kept.delete(key);
    this.#kept.set(key, found);
    return found;
  }

  #keep(key: string, executable: Executable): void {
    this.compiled += 1;
    this.#kept.set(key, executable);
    if (this.#kept.size <= mostKept) return;
    const [oldest, unused] = this.#kept.entries().next().value!;
    this.#kept.delete(oldest);
    unused.dispose();
  }

  /** Few elements are given to each run as they are; more are put on the device once. */
  #inputOf(value: Value): Input {
    const { type, host } = value;
    if (value.array) return value.array;
    if (value.failure !== undefined) throw value.failure;
    if (this.isNow) return { data: host!, shape: type.shape };
    value.array = this.#device.device.upload(host!, type.dtype, type.shape);
    value.host = undefined;
    return value.array;
  }

  dispose(): void {
    for (const executable of this.#kept.values()) executable.dispose();
    this.#kept.clear();
  }
}

/** Values whose tensors went away meanwhile get none. */
function finish({ outputs }: Job, arrays: readonly DeviceArray[]): void {
  for (const [i, value] of outputs.entries()) {
    if (value.tensors > 0 || value.users > 0) value.array = arrays[i]!;
    else arrays[i]!.dispose();
  }
}
