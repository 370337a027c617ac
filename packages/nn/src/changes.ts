/**
 * What was done to a module after it was made: reparameterisations, which a config repeats. Does
 * not know what they do.
 */

export type ChangeName = "weightNorm" | "spectralNorm" | "lora" | "quantizeWeights";

export interface Change {
  readonly name: ChangeName;
  readonly options: object;
  /** The forward that it left, so that another one tells of something that is not known here. */
  readonly forward: unknown;
  /** Takes off what it put around the forward. */
  readonly takeOff: () => void;
}

type Changed = object & { readonly forward: unknown };

const changes = new WeakMap<object, readonly Change[]>();

export const changesOf = (m: object): readonly Change[] => changes.get(m) ?? [];

export function recordChange(
  m: Changed,
  name: ChangeName,
  options: object,
  takeOff: () => void,
): void {
  changes.set(m, [...changesOf(m), { name, options, forward: m.forward, takeOff }]);
}

/** Takes off and forgets the changes that `isMeant` says, and no other. */
export function undoChanges(m: object, isMeant: (change: Change) => boolean): void {
  const all = changesOf(m);
  for (const change of all) if (isMeant(change)) change.takeOff();
  changes.set(
    m,
    all.filter((change) => !isMeant(change)),
  );
}
