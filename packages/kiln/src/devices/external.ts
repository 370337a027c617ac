/**
 * Engines from outside: what runs whole programs by itself, on devices of its own, as
 * `@kiln-ml/xla` does. A session of one has no target of ours; parameters live there as arrays, so
 * that reads, checkpoints and functions that follow them are as ever.
 */
import type { Program } from "@kiln-ml/compiler";
import type { Dtype, HostArray, Tensor } from "@kiln-ml/ir";
import type { Device } from "@kiln-ml/runtime/loader";
import type { Session } from "./session.ts";

/** A value on an engine's devices. */
export interface ExternalArray {
  readonly dtype: Dtype;
  readonly shape: readonly number[];
  readonly sizeBytes: number;
  data(): Promise<HostArray>;
  item(): Promise<number>;
  dispose(): void;
}

/** What a run takes: a value of the host, or an array of the engine. */
export interface EngineInput {
  readonly data: HostArray | readonly number[];
  readonly shape: readonly number[];
}

export interface ExternalProgram {
  /** The outputs; each state that the program writes holds its new value afterwards. */
  run(
    inputs: readonly EngineInput[],
    states: readonly ExternalArray[],
  ): Promise<readonly ExternalArray[]>;
}

export interface ExternalDevice {
  /** Whether what lived there is gone. */
  readonly isLost: boolean;
  readonly name: string;
  upload(
    host: HostArray | readonly number[],
    dtype: Dtype,
    shape: readonly number[],
  ): ExternalArray;
  /** A program whose parameters and data are `states`, in the order of their arrays in a run. */
  load(program: Program, states: readonly Tensor[]): ExternalProgram;
}

/** What `compile` takes as `engine`. */
export interface ExternalEngine {
  readonly name: string;
  /** Whether its device was open and is gone. */
  readonly isLost: boolean;
  /** The device, opened if it is not, and anew if it was lost. */
  open(): Promise<ExternalDevice>;
}

const sessions = new WeakMap<ExternalDevice, Session>();

/** The session of an engine. What is asked of its device here is what `ExternalDevice` has. */
export async function engineSession(engine: ExternalEngine): Promise<Session> {
  const external = await engine.open();
  const known = sessions.get(external);
  if (known) return known;
  const device = external as unknown as Device;
  const session: Session = { target: "js", device, external };
  sessions.set(external, session);
  return session;
}
