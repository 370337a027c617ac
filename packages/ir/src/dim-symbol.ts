/**
 * The symbols of dims: sizes that people name, loop variables, and integers of which less is known.
 * `dim.ts` computes with them, and gives out everything here as well.
 */
import { type Dim, type DimExpr, maxOfDim, ofAtom } from "./dim-expr.ts";
import { checkOptions, type OptionNames, ShapeError } from "./errors.ts";

export interface DimBounds {
  /** 1 unless given. */
  readonly min?: number;
  /** None unless given. */
  readonly max?: number;
}

const dimBounds: OptionNames<DimBounds> = { min: 1, max: 1 };

/**
 * A symbol for a size, `min ≤ name ≤ max`; by default 1 or more. `torch.export.Dim`.
 *
 * @param name The name of the symbol: equal names are equal sizes.
 * @example
 *   const x = input("x", "f32", [dim("N", { max: 64 }), 784]);
 *   printShape(x.shape) // "[N,784]"
 */
export function dim(name: string, bounds: DimBounds = {}): DimExpr {
  const { min = 1, max = Infinity } = checkOptions("dim", bounds, dimBounds);
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    throw new ShapeError(`dim: "${name}" is not an identifier`);
  if (!(min >= 0 && min <= max && Number.isInteger(min)))
    throw new ShapeError(`dim: bounds of ${name} are not 0 ≤ min ≤ max: ${min}, ${max}`);
  return ofAtom({ kind: "symbol", name, min, max, key: `${name}${rangeText(min, max)}` });
}

/** What tells a symbol from one of the same name that is 1 or more. */
function rangeText(min: number, max: number): string {
  const least = min === 1 ? "" : `>=${min}`;
  return max === Infinity ? least : `${least}<=${max}`;
}

/** Loop variables over numbers, by name: kernels have the same few, and ask for their keys. */
const loopVars = new Map<string, Map<number, DimExpr>>();
/** Those that are remembered before all are forgotten: some 3 MB. */
const mostRemembered = 8192;
let remembered = 0;

/** A loop variable: 0 ≤ name < extent. */
export function loopVar(name: string, extent: Dim): DimExpr {
  if (typeof extent !== "number") return newLoopVar(name, extent);
  const found = loopVars.get(name)?.get(extent);
  if (found) return found;
  if (remembered === mostRemembered) {
    loopVars.clear();
    remembered = 0;
  }
  const made = newLoopVar(name, extent);
  const known = loopVars.get(name);
  if (known) known.set(extent, made);
  else loopVars.set(name, new Map([[extent, made]]));
  remembered++;
  return made;
}

function newLoopVar(name: string, extent: Dim): DimExpr {
  const max = Math.max(0, maxOfDim(extent) - 1);
  return ofAtom({ kind: "symbol", name, min: 0, max, extent, key: name });
}

/** An integer that is no extent; by default nothing is known of it. */
export const anyInteger = (name: string, min = -Infinity, max = Infinity): DimExpr =>
  ofAtom({ kind: "symbol", name, min, max, key: name });
