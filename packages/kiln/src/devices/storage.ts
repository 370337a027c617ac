/**
 * Where the values of tensors live: device arrays by node, weakly, so that a value goes when its tensor does. A value
 * that was computed from parameters counts only until one of them changes.
 */
import {
  DeviceError,
  type HostArray,
  hasHostData,
  hostDataOf,
  initialValueOf,
  makeUnique,
  type Tensor,
} from "@kiln-ml/ir";
import type { DeviceArray } from "@kiln-ml/runtime/loader";
import type { Session } from "./session.ts";

/** A parameter that a value was computed from, with its version then. */
export type Read = readonly [param: Tensor, version: number];

interface Stored {
  readonly array: DeviceArray;
  readonly session: Session;
  readonly reads: readonly Read[];
}

const stored = new WeakMap<Tensor, Stored>();
const versions = new WeakMap<Tensor, number>();

/**
 * How often a parameter was changed, by a run that assigns it, a load or a move: what was computed
 * from it before may differ. `torch.Tensor._version`.
 *
 * @param param A parameter; one that nothing changed yet is at 0.
 * @example
 *   const total = param([0], { name: "total" });
 *   const add = compile((x) => assign(total, total.add(x)));
 *   await add([1]);
 *   versionOf(total) // 1
 */
export const versionOf = (param: Tensor): number => versions.get(param) ?? 0;

/** Values computed from `param` before do not count any more. */
export const markChanged = (param: Tensor): void => {
  versions.set(param, versionOf(param) + 1);
};

export function store(
  t: Tensor,
  session: Session,
  array: DeviceArray,
  reads: readonly Read[] = [],
): void {
  stored.set(t, { array, session, reads });
}

/** The value of `t` if it is known and still counts. */
export function storedOf(t: Tensor): Stored | undefined {
  const found = stored.get(t);
  return found?.reads.every(([param, version]) => versionOf(param) === version) ? found : undefined;
}

export const forget = (t: Tensor): boolean => stored.delete(t);

/** Frees what lives on a device of a leaf whose values can be had again: from the host, or as a first value. */
export function drop(leaf: Tensor): void {
  if (leaf.op === "param" ? versionOf(leaf) > 0 : !hasHostData(leaf)) return;
  stored.get(leaf)?.array.dispose();
  stored.delete(leaf);
}

/** A data leaf that stands for a device array. */
export function leafOf(session: Session, array: DeviceArray): Tensor {
  const { dtype, shape } = array;
  // Without a site: finding one takes as long as a small run.
  const leaf = makeUnique({ op: "data", operands: [], attrs: {}, dtype, shape, traced: false });
  store(leaf, session, array);
  return leaf;
}

/**
 * Throws DeviceError for a parameter that was changed in another session. One that was only read so far may move: where
 * it is trained is decided by the first function that changes it.
 */
export function checkHome(where: string, param: Tensor, session: Session): void {
  const home = stored.get(param)?.session;
  if (home && home !== session && versionOf(param) > 0)
    throw new DeviceError(
      `${where}: parameter ${String(param.attrs.name)} lives on ${home.target}, the function runs on ${session.target}\n  move it first: await to(module, "${session.target}")`,
    );
}

const pinned = new WeakSet<Tensor>();

/** Marks parameters whose target was chosen by name: "auto" moves them nowhere. */
export function pin(params: Iterable<Tensor>, chosen = true): void {
  for (const p of params) chosen ? pinned.add(p) : pinned.delete(p);
}

export const isPinned = (param: Tensor): boolean => pinned.has(param);

const firstValues = new WeakMap<Tensor, HostArray>();

/** Gives a parameter that lives nowhere yet another first value than its own. */
export const setFirstValue = (param: Tensor, host: HostArray): void => {
  firstValues.set(param, host);
};

/** The host data that a parameter starts from, if it is no expression. */
export function firstValueOf(param: Tensor): HostArray | undefined {
  const loaded = firstValues.get(param);
  if (loaded) return loaded;
  const first = initialValueOf(param);
  return first.op === "data" && hasHostData(first) ? hostDataOf(first) : undefined;
}
