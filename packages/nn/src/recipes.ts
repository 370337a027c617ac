/**
 * How an initialiser was made, so that a config can hold it: the factory by name, and arguments.
 */

export interface Recipe {
  readonly name: string;
  readonly args: readonly unknown[];
}

const recipes = new WeakMap<object, Recipe>();

/** The initialiser itself, of which `recipeOf` then knows where it is from. */
export function madeBy<T extends object>(
  name: string,
  args: readonly unknown[],
  initializer: T,
): T {
  recipes.set(initializer, { name, args });
  return initializer;
}

export const recipeOf = (initializer: object): Recipe | undefined => recipes.get(initializer);
