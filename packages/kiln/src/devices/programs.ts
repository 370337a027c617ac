/**
 * A device for programs whose graphs another package makes: compiled and loaded one by one, at once
 * where the device runs on the calling thread, so that a value can be read without waiting. Owns no
 * values; whoever asks for a program keeps it.
 */
import type { CompileOptions, Program } from "@kiln-ml/compiler";
import { statesOf } from "@kiln-ml/compiler/program";
import { GraphError, hostDataOf, type Tensor } from "@kiln-ml/ir";
import {
  type Device,
  type DeviceArray,
  type Executable,
  load,
  loadNow,
} from "@kiln-ml/runtime/loader";
import { compileOnce } from "../cache/compile-once.ts";
import { compileOptionsOf } from "../compile/automatic.ts";
import { type CodeOptions, codeOf } from "./engine.ts";
import { type Session, sessionFor, type TargetOption } from "./session.ts";

export interface ProgramDevice {
  readonly target: Session["target"];
  readonly device: Device;
  /** The program, ready to run on the device. Found again where programs are kept. */
  compile(program: Program, name: string): Promise<Executable>;
  /**
   * As `compile`, before it returns, for `Executable.runNow`; undefined where results come later.
   * Keeps no program, since a store is read later.
   */
  readonly compileNow?: (program: Program, name: string) => Executable;
}

/**
 * The device of a target, with the compiler loaded that `compileNow` takes. Throws DeviceError if
 * the machine has no such device.
 */
export async function openPrograms(target?: TargetOption): Promise<ProgramDevice> {
  const session = await sessionFor(target);
  const { device } = session;
  const compile = async (program: Program, name: string): Promise<Executable> => {
    const options = await optionsOf(session, name);
    const { artifact, states } = await compileOnce(program, options);
    return load(artifact, device, { states: upload(device, states) });
  };
  // A run or a compile of theirs is over after the call that asks for it.
  if (session.target === "webgpu" || session.target === "native")
    return { target: session.target, device, compile };
  const compiler = await import("@kiln-ml/compiler/compile");
  await compiler.loadTarget(session.target);
  const given = await optionsOf(session, "");
  const compileNow = (program: Program, name: string): Executable => {
    const { artifact } = compiler.compileProgram(program, { ...given, name });
    return loadNow(artifact, device, { states: upload(device, statesOf(program)) });
  };
  return { target: session.target, device, compile, compileNow };
}

async function optionsOf(session: Session, name: string): Promise<CompileOptions> {
  const code: CodeOptions = codeOf({ name });
  const { cache: _cache, ...options } = await compileOptionsOf(session, code);
  return options;
}

/** Data in the graph is the program's own: it lives as long as that does. */
function upload(device: Device, states: readonly Tensor[]): DeviceArray[] {
  return states.map((t) => {
    if (t.op === "param")
      throw new GraphError(
        `programs: ${t} is a parameter, which a program made by hand does not have\n  give its value as an input`,
      );
    return device.upload(hostDataOf(t), t.dtype, t.shape as readonly number[]);
  });
}
