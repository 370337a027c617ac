/**
 * What training needs of the front door, as an interface: this package builds graphs and loops, and
 * whoever has a compiler plugs it in, as `kiln-ml/train` does when it is loaded. So nothing here
 * imports the compiler, and the loop can be tried on another.
 */
import { GraphError, type Tensor } from "@kiln-ml/ir";
import type { Module } from "@kiln-ml/nn";

/** Tensors of state by name. */
export type Named = ReadonlyMap<string, Tensor>;

/**
 * The type of one argument: its shape, where a name stands for an extent that differs from call to
 * call.
 */
export interface ArgumentType {
  readonly shape: readonly (number | string)[];
  readonly dtype: "f32" | "f64" | "i8" | "i32" | "u8" | "u32";
}

/** What a report says of a program: its kernels in order, and the bytes that it holds. */
export interface ProgramFacts {
  readonly target: string;
  readonly kernels: readonly { readonly name: string }[];
  readonly memory: {
    readonly temporaryBytes: number;
    readonly inputBytes: number;
    readonly stateBytes: number;
  };
}

export interface Compiled {
  (...args: readonly unknown[]): Promise<unknown>;
  /** What it is compiled to; absent where the compiler cannot tell. */
  inspect?(): Promise<ProgramFacts>;
}

/** Where programs run, by name. */
export type Backend = "auto" | "js" | "wasm" | "native" | "webgpu";

/** An engine from outside, as `compile` takes one. */
export interface Engine {
  readonly name: string;
  /** Whether what lived on its devices is gone. */
  readonly isLost: boolean;
}

export interface FrontDoor {
  /** A function of tensors as a program; assignments in it happen at every call. */
  compile(
    fn: (...args: Tensor[]) => unknown,
    options: {
      readonly name: string;
      readonly inputs?: readonly ArgumentType[];
      readonly target?: Backend;
      readonly engine?: Engine;
    },
  ): Compiled;
  /** Moves the parameters of a model to where programs for `target` run. */
  move?(source: Module, target: Backend): Promise<unknown>;
  /** State as safetensors, and back. */
  stateBytes(state: Named): Promise<Uint8Array>;
  loadState(
    state: Named,
    bytes: Uint8Array,
    options?: { readonly strict?: boolean },
  ): Promise<unknown>;
}

let plugged: FrontDoor | undefined;

/**
 * Makes `door` the one that everything of this package uses. No counterpart in PyTorch.
 * @example
 *   train.plug({ compile, stateBytes, loadState }); // `kiln-ml/train` does it
 */
export function plug(door: FrontDoor): void {
  plugged = door;
}

export function frontDoor(): FrontDoor {
  if (plugged) return plugged;
  throw new GraphError("train: no compiler is plugged in\n  import it from kiln-ml/train");
}
