/**
 * Declared inputs of a compiled function: a shape, or a shape with a dtype and a name, for each tensor of the
 * arguments, in trees of the same form. Shapes may name symbols: `[["N", 784], { shape: ["N"], dtype: "i32" }]`.
 */
import {
  type Dim,
  DimExpr,
  type DimSymbol,
  type Dtype,
  type Extent,
  GraphError,
  input,
  isDtype,
  ofAtom,
  substitute,
  symbolsIn,
  type Tensor,
  toShape,
} from "@kiln-ml/ir";
import { isStatic, type Static, valueOfStatic } from "./static.ts";
import { isRecord, mapArguments } from "./tree.ts";

export interface InputType {
  readonly shape: readonly Extent[];
  /** "f32" unless given. */
  readonly dtype?: Dtype;
  readonly name?: string;
}

/** A shape, a type, lists and objects of them; or the value itself, for what is static. */
export type InputSpec =
  | readonly Extent[]
  | InputType
  | boolean
  | Static
  | readonly InputSpec[]
  | { readonly [key: string]: InputSpec };

export interface Declared {
  readonly path: string;
  readonly name: string;
  readonly dtype: Dtype;
  readonly shape: readonly Dim[];
}

const isExtent = (x: unknown): x is Extent =>
  typeof x === "number" || typeof x === "string" || x instanceof DimExpr;
const isShape = (x: unknown): x is readonly Extent[] => Array.isArray(x) && x.every(isExtent);
const isType = (x: unknown): x is InputType => isRecord(x) && isShape(x.shape);

/** True for what declares one tensor. */
export const isSpec = (x: unknown): boolean => isShape(x) || isType(x);

/** The declared type of one tensor. Throws GraphError for what is no shape, ShapeError for a bad one. */
export function declare(spec: unknown, path: string): Declared {
  const type: InputType | undefined = isShape(spec)
    ? { shape: spec }
    : isType(spec)
      ? spec
      : undefined;
  if (!type)
    throw new GraphError(
      `compile: input ${path} is declared by ${JSON.stringify(spec) ?? String(spec)}, not by a shape\n  use ["N", 784] or { shape: ["N"], dtype: "i32" }`,
    );
  const dtype = type.dtype ?? "f32";
  if (!isDtype(dtype)) throw new GraphError(`compile: input ${path} has unknown dtype ${dtype}`);
  return { path, name: type.name ?? inputName(path), dtype, shape: toShape(type.shape) };
}

/** `0.images` → `arg0.images`. */
export const inputName = (path: string): string => `arg${path}`;

export interface InputTree {
  /** The arguments to call the function with. */
  readonly args: readonly unknown[];
  readonly inputs: readonly Tensor[];
}

/** A tree of arguments with an input node in place of every leaf, in order. */
export function inputTree(
  tree: readonly unknown[],
  isLeaf: (x: unknown) => boolean,
  typeOf: (leaf: unknown, path: string) => Omit<Declared, "path">,
): InputTree {
  const types: Omit<Declared, "path">[] = [];
  // A string by itself is more likely a shape without its brackets.
  const isGiven = (leaf: unknown): boolean => isStatic(leaf) && typeof leaf !== "string";
  mapArguments(tree, isLeaf, (leaf, path) => {
    if (!isGiven(leaf)) types.push(typeOf(leaf, path));
  });
  const ranged = rangesIn(types);
  const inputs = types.map(({ name, dtype, shape }) =>
    input(
      name,
      dtype,
      shape.map((d) => substitute(d, ranged)),
    ),
  );
  let i = 0;
  const args = mapArguments(tree, isLeaf, (leaf) =>
    isGiven(leaf) ? valueOfStatic(leaf as Static) : inputs[i++],
  );
  return { args, inputs };
}

/** The symbols of which one axis says more than their names: what it says counts wherever they stand. */
function rangesIn(types: readonly Omit<Declared, "path">[]): ReadonlyMap<string, Dim> {
  const found = new Map<string, DimSymbol>();
  for (const { shape } of types)
    for (const s of shape.flatMap((d) => [...symbolsIn(d).values()])) {
      if (s.min === 1 && s.max === Infinity) continue;
      const before = found.get(s.name);
      if (before && before.key !== s.key)
        throw new GraphError(
          `compile: dim ${s.name} is declared twice, as ${before.key} and as ${s.key}`,
        );
      found.set(s.name, s);
    }
  return new Map([...found].map(([name, s]) => [name, ofAtom(s)]));
}

/** For whoever needs the types of the inputs, of a function that has none. */
export const undeclared = (op: string, name: string): GraphError =>
  new GraphError(
    `${op}: ${name} has neither declared inputs nor been called\n  pass { inputs: [["N", 784]] }`,
  );
