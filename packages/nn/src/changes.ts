/**
 * What was done to a module after it was made: reparameterisations, which a config repeats. Knows
 * neither what they do nor how they are undone.
 */

export type ChangeName = "weightNorm" | "spectralNorm" | "lora";

export interface Change {
  readonly name: ChangeName;
  readonly options: object;
  /** The forward that it left, so that another one tells of something that is not known here. */
  readonly forward: unknown;
}

type Changed = object & { readonly forward: unknown };

const changes = new WeakMap<object, readonly Change[]>();

export const changesOf = (m: object): readonly Change[] => changes.get(m) ?? [];

export function recordChange(m: Changed, name: ChangeName, options: object): void {
  changes.set(m, [...changesOf(m), { name, options, forward: m.forward }]);
}

export function forgetChanges(m: object, ...names: readonly ChangeName[]): void {
  changes.set(
    m,
    changesOf(m).filter((c) => !names.includes(c.name)),
  );
}
