/**
 * Settings that a function reads while it is traced, such as whether a module trains: the program holds for as long as they
 * stay. Knows nothing of what the settings are.
 */

/** True while a setting is what it was when the program was defined. */
export type Premise = () => boolean;

interface Record {
  /** By what has the setting. */
  readonly premises: Map<object, Premise>;
  /** What was set by the function itself: its reads depend on nothing outside. */
  readonly settled: Set<object>;
}

let current: Record | undefined;

/** Runs `define` and tells which settings it read. */
export function withPremises<T>(define: () => T): {
  readonly value: T;
  readonly premises: readonly Premise[];
} {
  const before = current;
  const record: Record = { premises: new Map(), settled: new Set() };
  current = record;
  try {
    return { value: define(), premises: [...record.premises.values()] };
  } finally {
    current = before;
  }
}

/** The setting of `holder` was read; `holds` tells whether it is still the same. */
export function readSetting(holder: object, holds: Premise): void {
  if (current && !current.settled.has(holder) && !current.premises.has(holder))
    current.premises.set(holder, holds);
}

/** The setting of `holder` is being changed. */
export function changeSetting(holder: object): void {
  current?.settled.add(holder);
}
