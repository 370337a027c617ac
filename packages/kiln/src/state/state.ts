/**
 * The state of modules and optimizers as safetensors bytes, and back. Loading says what was applied
 * and what was not; strict loading changes nothing unless everything fits. Files are `node.ts`'s.
 */
import { type Constant, readSafetensors, writeSafetensors } from "@kiln-ml/artifact";
import { type RenameRule, remapTensors } from "@kiln-ml/formats";
import {
  bytesOf,
  checkOptions,
  type Dtype,
  dataLeaf,
  fromHost,
  GraphError,
  type HostArray,
  isFloat,
  kindOf,
  type OptionNames,
  printShape,
  Stateful,
  Tensor,
  toHost,
} from "@kiln-ml/ir";
import { constantOf } from "../compile/export.ts";
import { arraysOf, compute } from "../devices/engine.ts";
import { inOrder, type Session, sessionFor } from "../devices/session.ts";
import { forget, markChanged, setFirstValue, storedOf } from "../devices/storage.ts";
import { homeOf } from "../eager/eager.ts";

/**
 * What has state: a module, an optimizer, tensors by name, or a record of these, whose keys become
 * prefixes.
 */
export type StateSource =
  | Stateful
  | ReadonlyMap<string, Tensor>
  | { readonly [name: string]: StateSource | Tensor };

export interface StateReport {
  readonly applied: readonly string[];
  /** In the module, not in the bytes. */
  readonly missing: readonly string[];
  /** In the bytes, not in the module. */
  readonly unused: readonly string[];
  /** In both, with another dtype or shape: `fc1.weight: f32[3,2] in the file, f32[2,3] here`. */
  readonly mismatched: readonly string[];
}

/** The parameters of a source by name. Throws GraphError for what is none. */
export function stateOf(source: StateSource): Map<string, Tensor> {
  if (source instanceof Stateful) return source.checkpoint();
  if (source instanceof Map) return new Map(source);
  if (Object(source) !== source || source instanceof Tensor)
    throw new GraphError(
      `state: takes modules, optimizers and tensors by name, got ${kindOf(source)}`,
    );
  const found = new Map<string, Tensor>();
  for (const [name, part] of Object.entries(source))
    if (part instanceof Tensor) found.set(name, part);
    else for (const [path, t] of stateOf(part)) found.set(`${name}.${path}`, t);
  return found;
}

/** The values of parameters in the session where each lives. */
export async function valuesOf(tensors: Iterable<Tensor>): Promise<Constant[]> {
  const values: Constant[] = [];
  for (const t of tensors) {
    const session = homeOf([t]) ?? (await sessionFor());
    const [array] = await arraysOf(session, [t]);
    values.push(await constantOf(array!));
  }
  return values;
}

/**
 * All state as the bytes of a safetensors file. `safetensors.torch.save`.
 *
 * @param source A module, an optimizer, or tensors by name.
 * @example
 *   const [net, copy] = [new nn.Linear(2, 1), new nn.Linear(2, 1)];
 *   await loadState(copy, await stateBytes(net));
 *   allClose(copy.weight, net.weight) // true
 */
export const stateBytes = (source: StateSource): Promise<Uint8Array> =>
  inOrder(async () => {
    const state = stateOf(source);
    const values = await valuesOf(state.values());
    const tensors = Object.fromEntries([...state.keys()].map((name, i) => [name, values[i]!]));
    return writeSafetensors(tensors, { format: "kiln" });
  });

export interface LoadStateOptions {
  /** Every name must be on both sides with one shape; default true. */
  readonly strict?: boolean;
  /**
   * Patterns and what they become, applied in turn to each name of the file; null leaves a tensor
   * out.
   */
  readonly remap?: readonly RenameRule[];
  /**
   * Rounds floats of another width to the parameter's, instead of calling them mismatched; default
   * false.
   */
  readonly convert?: boolean;
}

export const loadStateOptions: OptionNames<LoadStateOptions> = { strict: 1, remap: 1, convert: 1 };

/**
 * Puts the tensors of a safetensors file into the state of the same names.
 *
 * Rejects with ArtifactError for damaged bytes, and if strict with GraphError for names or shapes
 * that differ, before anything is changed. `torch.nn.Module.load_state_dict`.
 *
 * @param source A module, an optimizer, or tensors by name.
 * @param bytes A safetensors file.
 * @example
 *   const net = new nn.Linear(2, 1);
 *   const bytes = await stateBytes(net);
 *   const { missing, unexpected } = await loadState(net, bytes);
 *   missing // []
 */
export const loadState = (
  source: StateSource,
  bytes: Uint8Array,
  options: LoadStateOptions = {},
): Promise<StateReport> =>
  inOrder(async () => {
    checkOptions("loadState", options, loadStateOptions);
    const { tensors } = readSafetensors(bytes);
    return putTensors("loadState", source, tensors, options);
  });

/**
 * Puts tensors into the state of the same names, of which `asked` must be there; says what it did.
 * Nothing changes if it throws.
 */
export async function putTensors(
  op: string,
  source: StateSource,
  tensors: Readonly<Record<string, Constant>>,
  { strict = true, remap = [], convert = false }: LoadStateOptions,
  asked: (t: Tensor) => boolean = () => true,
): Promise<StateReport> {
  const named = remap.length ? remapTensors(tensors, remap) : tensors;
  const state = stateOf(source);
  const all = compare(state, named, convert);
  const report = { ...all, missing: all.missing.filter((name) => asked(state.get(name)!)) };
  if (strict) checkReport(op, report);
  await putValues(
    report.applied.map((name) => {
      const param = state.get(name)!;
      return [param, hostOf(named[name]!, param.dtype)] as const;
    }),
  );
  return report;
}

function compare(
  state: ReadonlyMap<string, Tensor>,
  tensors: Readonly<Record<string, Constant>>,
  convert: boolean,
): StateReport {
  const applied: string[] = [];
  const missing: string[] = [];
  const mismatched: string[] = [];
  for (const [name, t] of state) {
    const found = Object.hasOwn(tensors, name) ? tensors[name]! : undefined;
    const shape = printShape(t.shape);
    if (!found) missing.push(name);
    else if (printShape(found.shape) === shape && fits(found.dtype, t.dtype, convert))
      applied.push(name);
    else
      mismatched.push(
        `${name}: ${found.dtype}${printShape(found.shape)} in the file, ${t.dtype}${shape} here`,
      );
  }
  const unused = Object.keys(tensors).filter((name) => !state.has(name));
  return { applied, missing, unused, mismatched };
}

const fits = (from: Dtype, to: Dtype, convert: boolean): boolean =>
  from === to || (convert && isFloat(from) && isFloat(to));

function checkReport(op: string, { missing, unused, mismatched }: StateReport): void {
  const parts = { missing, unused, mismatched };
  const text = Object.entries(parts)
    .filter(([, names]) => names.length)
    .map(([what, names]) => `${what} ${shorten(names)}`);
  if (text.length)
    throw new GraphError(
      `${op}: the file does not fit: ${text.join("; ")}\n  pass { strict: false } to load the rest`,
    );
}

const shorten = (names: readonly string[]): string =>
  names.length > 5
    ? `${names.slice(0, 4).join(", ")} and ${names.length - 4} more`
    : names.join(", ");

function hostOf({ dtype, data }: Constant, to: Dtype): HostArray {
  const form = toHost(dtype, []).constructor as new (
    buffer: ArrayBufferLike,
    offset: number,
    length: number,
  ) => HostArray;
  const size = bytesOf(dtype);
  const aligned = data.byteOffset % size ? data.slice() : data;
  const values = new form(aligned.buffer, aligned.byteOffset, data.byteLength / size);
  return to === dtype ? values : toHost(to, fromHost(dtype, values));
}

/** Sets parameters: in place where they live already, so that what is compiled stays bound. */
async function putValues(values: readonly (readonly [Tensor, HostArray])[]): Promise<void> {
  const updates = new Map<Session, [Tensor, Tensor][]>();
  for (const [param, host] of values) {
    const session = storedOf(param)?.session;
    if (!session || session.external) {
      // An engine takes it at the next run, also one that was lost and is opened anew.
      forget(param);
      markChanged(param);
      setFirstValue(param, host);
      continue;
    }
    const value = dataLeaf(param.dtype, param.shape as readonly number[], host);
    updates.set(session, [...(updates.get(session) ?? []), [param, value]]);
  }
  for (const [session, list] of updates) await compute(session, [], list);
}
