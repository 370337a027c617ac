/**
 * Artifact + device + states → executable. Refuses what the device cannot run and what would make a
 * run go astray (versions, places, limits, states); the bytes of a file are the codec's to check,
 * before this.
 */
import {
  type Artifact,
  ArtifactError,
  artifactVersion,
  checkOptions,
  DeviceError,
  DtypeError,
  evaluateSize,
  GraphError,
  type OptionNames,
  partsOf,
  ShapeError,
} from "@kiln-ml/artifact";
import type { Device, KernelModule, Program } from "./device.ts";
import type { DeviceArray } from "./device-array.ts";
import { nextTask } from "./devices/pressure.ts";
import { Executable } from "./executable.ts";
import type { Flows } from "./flow.ts";
import type { Place } from "./layout.ts";
import { uploadConstant } from "./states.ts";

export interface LoadOptions {
  /**
   * One array for each state of the signature, in order; the executable updates them in place. None
   * by default.
   */
  readonly states?: readonly DeviceArray[];
  /**
   * false refuses kernels in JavaScript, which can do whatever the page or process can: for
   * artifacts that are not trusted.
   */
  readonly scripts?: boolean;
  /** The artifact's kernels as a module, where functions must not be built from text (cpu). */
  readonly kernels?: KernelModule;
  /**
   * A WebAssembly.Module of the artifact's kernels, where none may be compiled from bytes (wasm, on
   * one thread): `kernels.wasm` as edge runtimes import it.
   */
  readonly module?: object;
}

const loadOptions: OptionNames<LoadOptions> = { states: 1, kernels: 1, module: 1, scripts: 1 };

const given = { ArtifactError, GraphError, evaluateSize, partsOf, nextTask };

/**
 * Makes an artifact ready to run on a device.
 *
 * Throws ArtifactError for another version or a malformed plan, DeviceError if the device is of
 * another target or below the artifact's limits or features, ShapeError or DtypeError if a state
 * does not fit the signature.
 */
export async function load(
  artifact: Artifact,
  device: Device,
  options: LoadOptions = {},
): Promise<Executable> {
  const { states = [] } = checkLoad(artifact, device, options);
  // Few plans have a flow.
  const flow = artifact.plan.flow && (await import("./flow.ts")).flowsWith(given);
  checkPlan(artifact, flow?.check);
  checkStates(artifact, device, states);
  const program = await device.driver.load(artifact, options.kernels, options.module);
  return executableOf(artifact, device, program, states, flow?.code);
}

/**
 * As `load`, before it returns: what is loaded so is run by `runNow`, on the calling thread alone.
 *
 * Throws what `load` rejects with, and DeviceError where results come later (webgpu), or where the
 * plan has loops or branches.
 */
export function loadNow(artifact: Artifact, device: Device, options: LoadOptions = {}): Executable {
  const { states = [] } = checkLoad(artifact, device, options);
  if (!device.driver.loadNow)
    throw new DeviceError(
      `loadNow: results of a ${device.kind} device come later\n  load the artifact by load, and await its runs`,
    );
  if (artifact.plan.flow)
    throw new DeviceError(
      `loadNow: ${artifact.name} has loops or branches, whose runs may pause\n  load the artifact by load, and await its runs`,
    );
  checkPlan(artifact);
  checkStates(artifact, device, states);
  const program = device.driver.loadNow(artifact, options.kernels, options.module);
  return executableOf(artifact, device, program, states);
}

/** The options, where a device may load the artifact with them. */
function checkLoad(artifact: Artifact, device: Device, options: LoadOptions): LoadOptions {
  const { scripts = true } = checkOptions("load", options, loadOptions);
  device.check("load");
  if (!scripts && artifact.target === "js")
    throw new ArtifactError(
      `load: ${artifact.name} has kernels in JavaScript, which scripts: false refuses\n  compile it for wasm or webgpu, or load it in a worker that may do no harm`,
    );
  checkVersion(artifact);
  checkDevice(artifact, device);
  return options;
}

function executableOf(
  artifact: Artifact,
  device: Device,
  program: Program,
  states: readonly DeviceArray[],
  flow?: Flows["code"],
): Executable {
  const constants: DeviceArray[] = [];
  const made = new Executable(artifact, device, program, states, constants, flow);
  try {
    device.check("load");
    for (const c of artifact.constants)
      constants.push(uploadConstant(device, c, `constant ${constants.length}`));
    return made;
  } catch (error) {
    made.dispose();
    throw error;
  }
}

function checkVersion({ version }: Artifact): void {
  if (version !== artifactVersion)
    throw new ArtifactError(
      `load: artifact has version ${version}, this runtime reads ${artifactVersion}\n  compile it again`,
    );
}

function checkDevice(artifact: Artifact, device: Device): void {
  if (artifact.target !== device.target)
    throw new DeviceError(
      `load: artifact is compiled for ${artifact.target}, the ${device.kind} device runs ${device.target}\n  compile it for this target, or open a device of the other`,
    );
  for (const [name, need] of Object.entries(artifact.limits)) {
    const have = device.limits[name];
    // An alignment is a limit from below.
    const fits = have !== undefined && (name.startsWith("min") ? have <= need : have >= need);
    if (!fits)
      throw new DeviceError(
        `load: artifact needs ${name} ${need}, the device has ${have ?? "none"}\n  compile it for the limits of this device, or take another adapter`,
      );
  }
  for (const feature of artifact.features)
    if (!device.features.has(feature))
      throw new DeviceError(
        `load: artifact needs ${feature}, which the device lacks\n  compile it without that feature, or take another adapter`,
      );
}

function checkPlan(
  { plan, kernels, signature, constants }: Artifact,
  checkFlow?: Flows["check"],
): void {
  const sizes: Record<Place["in"], number> = {
    slot: plan.slots.length,
    input: signature.inputs.length,
    output: signature.outputs.length,
    state: signature.states.length,
    constant: constants.length,
  };
  const check = (where: string, { in: space, index }: Place) => {
    if (!(Object.hasOwn(sizes, space) && index >= 0 && index < sizes[space]))
      throw new ArtifactError(
        `load: ${where} names ${space} ${index}, of which there is none\n  compile it again: the artifact is damaged`,
      );
  };
  plan.steps.forEach((step, i) => {
    const kernel = kernels[step.kernel];
    if (!kernel)
      throw new ArtifactError(
        `load: step ${i} names kernel ${step.kernel} of ${kernels.length}\n  compile it again: the artifact is damaged`,
      );
    if (step.args.length !== kernel.bindings.length)
      throw new ArtifactError(
        `load: step ${i} passes ${step.args.length} places, kernel ${kernel.name} binds ${kernel.bindings.length}\n  compile it again: the artifact is damaged`,
      );
    for (const place of step.args) check(`step ${i}`, place);
  });
  checkFlow?.(plan.flow!, plan.steps.length, check);
  plan.copies.forEach(({ from, to }, i) => {
    check(`copy ${i}`, from);
    check(`copy ${i}`, to);
  });
}

function checkStates(artifact: Artifact, device: Device, states: readonly DeviceArray[]): void {
  const specs = artifact.signature.states;
  if (states.length !== specs.length)
    throw new ShapeError(
      `load: the number of states of ${artifact.name} is ${specs.length}, got ${states.length}\n  pass one array for each state: initialStates(artifact, device)`,
    );
  specs.forEach((spec, i) => {
    const state = states[i]!;
    const where = `load: state ${spec.name}`;
    state.check(where);
    if (state.device !== device)
      throw new DeviceError(
        `${where} is on another device\n  upload it to the device that loads the artifact`,
      );
    if (states.indexOf(state) !== i)
      throw new DeviceError(`${where} is the array of ${specs[states.indexOf(state)]!.name} too`);
    if (state.dtype !== spec.dtype)
      throw new DtypeError(
        `${where} must be ${spec.dtype}, got ${state.dtype}\n  upload it with the dtype of the signature`,
      );
    if (`${state.shape}` !== `${spec.shape}`)
      throw new ShapeError(
        `${where} must have shape [${spec.shape}], got [${state.shape}]\n  upload it with the shape of the signature`,
      );
  });
}
