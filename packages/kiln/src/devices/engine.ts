/**
 * Programs on devices: states for their leaves, loading, running, and the record of what a run
 * changed. Everything here expects its turn in the queue (`inOrder`).
 */
import type { Artifact } from "@kiln-ml/artifact";
import type { CompileOptions, Program } from "@kiln-ml/compiler";
import { statesOf, targetNames } from "@kiln-ml/compiler/program";
import {
  GraphError,
  hasHostData,
  hostDataOf,
  initialValueOf,
  input,
  replaceNodes,
  type Tensor,
} from "@kiln-ml/ir";
import {
  type DeviceArray,
  type Executable,
  type Input,
  type KernelTiming,
  load,
  type RunOptions,
} from "@kiln-ml/runtime/loader";
import { compileOnce } from "../cache/compile-once.ts";
import { compileOptionsOf, compilePlaced } from "../compile/automatic.ts";
import { type Asked, askedOf } from "../compile/structure.ts";
import type { TuningTable } from "../tune/table.ts";
import type { EngineInput, ExternalArray, ExternalProgram } from "./external.ts";
import { defaultTarget, isCurrent, type Session, sessionFor } from "./session.ts";
import { settings } from "./settings.ts";
import { checkHome, firstValueOf, markChanged, store, storedOf } from "./storage.ts";

export type Updates = readonly (readonly [Tensor, Tensor])[];

/** What decides the text of kernels, apart from the target. */
export interface CodeOptions
  extends Pick<CompileOptions, "fusion" | "rounding" | "name" | "observe"> {
  /** What a tuner found; entries of other adapters than the one at hand are left alone. */
  readonly tuning?: TuningTable;
  /** False compiles anew, whatever is kept from earlier, and keeps nothing; default true. */
  readonly cache?: boolean;
}

/** A compiled program bound to the states of a session. */
export class Runner {
  readonly session: Session;
  readonly #artifact: Artifact | undefined;
  readonly #external: ExternalProgram | undefined;
  readonly states: readonly Tensor[];
  readonly #written: readonly Tensor[];
  #executable: Executable | undefined;

  private constructor(
    session: Session,
    { artifact, external }: { artifact?: Artifact; external?: ExternalProgram },
    states: readonly Tensor[],
    written: readonly Tensor[],
  ) {
    this.session = session;
    this.#artifact = artifact;
    this.#external = external;
    this.states = states;
    this.#written = written;
  }

  static #of(session: Session, artifact: Artifact, states: readonly Tensor[]): Runner {
    const written = states.filter((_, i) => artifact.signature.states[i]!.written);
    return new Runner(session, { artifact }, states, written);
  }

  /**
   * What was compiled. Throws GraphError where an engine from outside did it, and keeps it for
   * itself.
   */
  get artifact(): Artifact {
    if (this.#artifact) return this.#artifact;
    throw new GraphError(
      `${this.session.device.name}: the program is the engine's, and has no kernels of ours to look at\n  compile the function for a target to time, tune or inspect it`,
    );
  }

  static async compile(session: Session, program: Program, options: CodeOptions): Promise<Runner> {
    if (session.external) {
      const states = statesOf(program);
      const external = session.external.load(program, states);
      const written = program.updates.map(([param]) => param);
      return new Runner(session, { external }, states, written);
    }
    const { artifact, states } = await compileOnce(
      program,
      await compileOptionsOf(session, codeOf(options)),
    );
    return Runner.#of(session, artifact, states);
  }

  /**
   * Compiles for the target that takes the least time, or for `home`, where the states live, if
   * that is as good.
   */
  static async place(
    program: Program,
    options: CodeOptions,
    home?: Session,
    extents?: readonly (readonly number[])[],
  ): Promise<Runner> {
    const placed = await compilePlaced(program, codeOf(options), home, extents);
    return Runner.#of(placed.session, placed.compiled.artifact, placed.compiled.states);
  }

  /** The executable, bound to the arrays where the states live now. */
  async executable(): Promise<Executable> {
    const arrays = await arraysOf(this.session, this.states);
    const bound = this.#executable;
    if (bound && arrays.every((a, i) => a === bound.states[i])) return bound;
    bound?.dispose();
    this.#executable = await load(this.artifact, this.session.device, { states: arrays });
    return this.#executable;
  }

  /** The executable, if the states still live in the arrays that it was loaded with. */
  #bound(): Executable | undefined {
    const bound = this.#executable;
    const stay = this.states.every((t, i) => {
      const known = storedOf(t);
      return known?.session === this.session && known.array === bound?.states[i];
    });
    return stay ? bound : undefined;
  }

  async run(inputs: readonly Input[], options?: RunOptions): Promise<DeviceArray[]> {
    if (this.#external) return this.#runOutside(this.#external, inputs);
    const executable = this.#bound() ?? (await this.executable());
    const outputs = await this.#outputs(executable, inputs, options);
    this.#changed();
    return outputs;
  }

  async #runOutside(program: ExternalProgram, inputs: readonly Input[]): Promise<DeviceArray[]> {
    const arrays = await arraysOf(this.session, this.states);
    const outputs = await program.run(
      inputs as EngineInput[],
      arrays as unknown as ExternalArray[],
    );
    this.#changed();
    return outputs as unknown as DeviceArray[];
  }

  async #outputs(
    executable: Executable,
    inputs: readonly Input[],
    options?: RunOptions,
  ): Promise<DeviceArray[]> {
    if (!settings.profile) return executable.run(inputs, options);
    const { outputs, timings } = await executable.runProfiled(inputs);
    settings.profile(this.artifact.name, timings);
    return outputs;
  }

  async profile(inputs: readonly Input[]): Promise<KernelTiming[]> {
    const executable = await this.executable();
    const timings = await executable.profile(inputs);
    this.#changed();
    return timings;
  }

  /** Frees what the program holds on the device; the states stay. */
  dispose(): void {
    this.#executable?.dispose();
    this.#executable = undefined;
  }

  #changed(): void {
    for (const param of this.#written) markChanged(param);
  }
}

/** Options with what the command line sets. */
export const codeOf = (options: CodeOptions): CodeOptions => ({
  ...(settings.tuning ? { tuning: settings.tuning } : {}),
  ...options,
  ...(settings.fusion === false ? { fusion: false } : {}),
});

/**
 * The arrays of parameters and data leaves in a session; first values are computed, all in one
 * program.
 */
export async function arraysOf(
  session: Session,
  leaves: readonly Tensor[],
): Promise<DeviceArray[]> {
  const fresh = leaves.filter((t) => t.op === "param" && !storedOf(t));
  if (fresh.length) await initialize(session, fresh);
  const arrays: DeviceArray[] = [];
  for (const t of leaves) arrays.push(await arrayOf(session, t));
  return arrays;
}

async function arrayOf(session: Session, t: Tensor): Promise<DeviceArray> {
  if (t.op === "param") checkHome("run", t, session);
  const known = storedOf(t);
  if (known?.session === session) return known.array;
  if (!known && !hasHostData(t))
    throw new GraphError(`run: ${t} has no values: it was freed, or only its type was given`);
  // What an engine lost can be had again of data that the host still has.
  const lost = known?.session.external?.isLost && hasHostData(t);
  const host = known && !lost ? await known.array.data() : hostDataOf(t);
  const array = session.device.upload(host, t.dtype, t.shape as readonly number[]);
  store(t, session, array);
  if (t.op === "param") known?.array.dispose();
  return array;
}

/**
 * Gives parameters their first values. Each gets an array of its own, because runs change it in
 * place.
 */
async function initialize(session: Session, params: readonly Tensor[]): Promise<void> {
  const { device } = session;
  const computed: Tensor[] = [];
  for (const p of params) {
    const host = firstValueOf(p);
    if (host) store(p, session, device.upload(host, p.dtype, p.shape as readonly number[]));
    else computed.push(p);
  }
  if (!computed.length) return;
  const arrays = await compute(session, computed.map(initialValueOf));
  computed.forEach((p, i) => {
    store(p, session, arrays[i]!);
  });
}

const keptPrograms = 256;
const programs = new Map<string, Runner>();
let compiled = 0;

/** How many programs eager reads have compiled so far. */
export const eagerCompiles = (): number => compiled;

/** New arrays with the values of `roots`, and the updates applied. */
export const compute = async (
  session: Session,
  roots: readonly Tensor[],
  updates: Updates = [],
): Promise<DeviceArray[]> => {
  const values = [...roots, ...updates.map(([, value]) => value)];
  const asked = askedOf(
    values,
    updates.map(([param]) => param),
  );
  return (await computeSomewhere(session, asked, updates)).arrays;
};

/** Values, and where they are. */
export interface Computed {
  readonly session: Session;
  readonly arrays: DeviceArray[];
}

/**
 * What is asked, the last roots as the values of the updates; where `placement.ts` sees fit if no
 * session is given and no target is the default.
 */
export async function computeSomewhere(
  given: Session | undefined,
  { roots, key, leaves }: Asked,
  updates: Updates = [],
): Promise<Computed> {
  const auto = !given && defaultTarget() === "auto";
  const session = auto ? undefined : (given ?? (await sessionFor()));
  const runner =
    keptFor(key, session) ??
    (await build(session, roots.length - updates.length, roots, updates, leaves));
  const name = `${nameOf(runner.session)} ${key}`;
  programs.delete(name);
  programs.set(name, runner);
  if (programs.size > keptPrograms) {
    const [oldest, unused] = programs.entries().next().value!;
    programs.delete(oldest);
    unused.dispose();
  }
  const inputs: Input[] = [];
  for (const leaf of leaves) inputs.push(await feed(runner.session, leaf));
  return { session: runner.session, arrays: await runner.run(inputs) };
}

const nameOf = (session: Session): string => session.external?.name ?? session.target;

/** A kept program for a session; for any that is open, if none is given. */
function keptFor(key: string, session: Session | undefined): Runner | undefined {
  const names = session ? [nameOf(session)] : targetNames;
  return names
    .flatMap((target) => programs.get(`${target} ${key}`) ?? [])
    .find((known) => (session ? known.session === session : isCurrent(known.session)));
}

async function build(
  session: Session | undefined,
  outputs: number,
  all: readonly Tensor[],
  updates: Updates,
  leaves: readonly Tensor[],
): Promise<Runner> {
  const inputs = leaves.map((t, i) => input(`x${i}`, t.dtype, t.shape));
  const values = replaceNodes(all, new Map(leaves.map((t, i) => [t, inputs[i]!])));
  const program: Program = {
    inputs,
    outputs: values.slice(0, outputs).map((value, i) => ({ name: `y${i}`, value })),
    updates: updates.map(([param], i) => [param, values[outputs + i]!] as const),
  };
  compiled++;
  const code = { name: "eager" };
  return session ? Runner.compile(session, program, code) : Runner.place(program, code);
}

/** A leaf as an input: host memory as it is on the CPU, an upload that is kept elsewhere. */
export async function feed(session: Session, leaf: Tensor): Promise<Input> {
  const known = storedOf(leaf);
  if (!known && session.device.kind === "cpu" && hasHostData(leaf))
    return { data: hostDataOf(leaf), shape: leaf.shape as readonly number[] };
  return (await arraysOf(session, [leaf]))[0]!;
}
