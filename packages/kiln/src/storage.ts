/**
 * Where the values of tensors live: device arrays by node, weakly, so that a value goes when its tensor does. A value
 * that was computed from parameters counts only until one of them changes.
 */
import { DeviceError, type Dtype, declareData, type Shape, type Tensor } from "@kiln-ml/ir";
import type { DeviceArray } from "@kiln-ml/runtime";
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

/** How often a parameter was changed. */
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

/** A data leaf that stands for a device array. */
export function leafOf(session: Session, array: DeviceArray): Tensor {
  const leaf = declareData(array.dtype as Dtype, array.shape as Shape);
  store(leaf, session, array);
  return leaf;
}

/** Throws DeviceError for a parameter that lives in another session. */
export function checkHome(where: string, param: Tensor, session: Session): void {
  const home = stored.get(param)?.session;
  if (home && home !== session)
    throw new DeviceError(
      `${where}: parameter ${String(param.attrs.name)} lives on ${home.target}, the function runs on ${session.target}\n  move it first: await to(module, "${session.target}")`,
    );
}
