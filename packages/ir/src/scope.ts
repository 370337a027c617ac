/**
 * In whose course nodes are made, such as a layer's: a chain of names, innermost first. Nodes carry the scope in which they were
 * made first. Knows nothing of what has the names; they are asked for when somebody wants to read them.
 */

export interface Scope {
  /** What is around it. */
  readonly outer: Scope | undefined;
  /** Whose it is. */
  readonly owner: object;
  /** Its name within what is around it. */
  name(): string;
}

let current: Scope | undefined;

/** The scope in which nodes are made now. */
export const currentScope = (): Scope | undefined => current;

/** Runs `define` with nodes made in `scope`. */
export function inScope<T>(scope: Scope | undefined, define: () => T): T {
  const before = current;
  current = scope;
  try {
    return define();
  } finally {
    current = before;
  }
}

/** `Net.blocks.0.fc1`; undefined outside of all. */
export function scopePath(scope: Scope | undefined): string | undefined {
  const names: string[] = [];
  for (let s = scope; s; s = s.outer) names.unshift(s.name());
  return names.length ? names.join(".") : undefined;
}
