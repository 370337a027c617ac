/**
 * What the front door adds to every Tensor: reading its values, giving its memory back, and
 * printing itself. Installed once, when the package is loaded.
 */
import {
  fromHost,
  GraphError,
  type HostArray,
  hasHostData,
  hostDataOf,
  isTracing,
  printShape,
  Tensor,
} from "@kiln-ml/ir";
import type { DeviceArray } from "@kiln-ml/runtime/loader";
import { inOrder } from "../devices/session.ts";
import { forget, storedOf } from "../devices/storage.ts";
import { evaluateTensor } from "./eager.ts";

declare module "@kiln-ml/ir" {
  interface Tensor {
    /**
     * The elements, row-major, in a new typed array: f16 and bf16 as bits, bool as bytes. Computes
     * them if need be, with assignments made outside `compile`. Rejects with GraphError for a
     * tensor that depends on an input.
     */
    data(): Promise<HostArray>;
    /**
     * The elements as lists in lists, as `tensor` takes them: numbers, or booleans of bool; of a
     * scalar, one. Otherwise as `data`.
     * `torch.Tensor.tolist`.
     */
    toList(): Promise<Nested>;
    /** The value of a tensor of one element. Rejects with ShapeError if it has more, or none. */
    item(): Promise<number>;
    /** Gives the memory of a known value back at once. Never needed: collection does it too. */
    dispose(): void;
  }
}

/** A number or a boolean, or a list of such. */
export type Nested = number | boolean | readonly Nested[];

/**
 * Begins the read in its turn, so that no later run changes what it sees, and waits for it outside
 * of the queue.
 */
async function read<T>(t: Tensor, from: (array: DeviceArray) => Promise<T>): Promise<T> {
  const { value } = await inOrder(async () => {
    const begun = from(await evaluateTensor(undefined, t));
    // Until it is awaited below, a failure is nobody's.
    begun.catch(() => {});
    return { value: begun };
  });
  return await value;
}

function checkOutside(what: string, t: Tensor): void {
  if (isTracing())
    throw new GraphError(
      `${what}: ${t} has no value while a function is traced\n  return it from the function and read it there`,
    );
}

async function dataOf(t: Tensor): Promise<HostArray> {
  if (t.op === "data" && !storedOf(t) && hasHostData(t)) return hostDataOf(t).slice();
  return read(t, (array) => array.data());
}

/** Row-major elements as lists in lists of these extents. */
function nested(flat: readonly (number | boolean)[], shape: readonly number[]): Nested {
  const [extent, ...rest] = shape;
  if (extent === undefined) return flat[0]!;
  const size = rest.reduce((a, b) => a * b, 1);
  return Array.from({ length: extent }, (_, i) =>
    nested(flat.slice(i * size, (i + 1) * size), rest),
  );
}

async function listOf(t: Tensor): Promise<Nested> {
  const numbers = [...fromHost(t.dtype, await dataOf(t))];
  const flat = t.dtype === "bool" ? numbers.map(Boolean) : numbers;
  return nested(flat, t.shape as readonly number[]);
}

/**
 * `data`, `toList` and `item` throw in a trace, rather than reject later: a promise in a function
 * is truthy, whatever it is of.
 */
const methods = {
  data(this: Tensor): Promise<HostArray> {
    checkOutside("data", this);
    return dataOf(this);
  },
  toList(this: Tensor): Promise<Nested> {
    checkOutside("toList", this);
    return listOf(this);
  },
  item(this: Tensor): Promise<number> {
    checkOutside("item", this);
    return read(this, (array) => array.item());
  },
  dispose(this: Tensor): void {
    if (this.op === "param")
      throw new GraphError(`dispose: ${String(this.attrs.name)} is a parameter`);
    storedOf(this)?.array.dispose();
    if (this.op !== "data") forget(this);
  },
  [Symbol.for("nodejs.util.inspect.custom")](this: Tensor): string {
    return inspect(this);
  },
};

for (const name of Reflect.ownKeys(methods))
  Object.defineProperty(Tensor.prototype, name, {
    configurable: true,
    writable: true,
    value: methods[name as keyof typeof methods],
  });
if (Symbol.dispose)
  Object.defineProperty(Tensor.prototype, Symbol.dispose, {
    configurable: true,
    writable: true,
    value: methods.dispose,
  });

const inspectKey = Symbol.for("nodejs.util.inspect.custom");

/** Nested brackets, numbers to six significant digits. */
function printed(t: Tensor): string {
  const numbers = [...fromHost(t.dtype, hostDataOf(t))].map((v) => Number(v.toPrecision(6)));
  const text = (x: Nested): string => (Array.isArray(x) ? `[${x.map(text).join(",")}]` : String(x));
  return text(nested(numbers, t.shape as readonly number[]));
}

/** Elements that are printed; of more, the type alone. */
const mostPrinted = 16;

/** `Tensor f32[2] [1,2]` where the value is at hand and small, else type and origin. */
function inspect(t: Tensor): string {
  const kind = t.op === "param" ? `Parameter ${String(t.attrs.name)}` : "Tensor";
  const array = storedOf(t)?.array as { [inspectKey]?(): string } | undefined;
  if (array) return `${kind} ${array[inspectKey]?.()}`;
  const type = `${t.dtype}${printShape(t.shape)}`;
  if (t.op === "data" && hasHostData(t) && hostDataOf(t).length <= mostPrinted)
    return `${kind} ${type} ${printed(t)}`;
  return t.op === "param" ? `${kind} ${type}` : `${kind} ${type} (${t.op})`;
}
