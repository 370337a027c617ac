/**
 * Functions around a module's forward: hooks, computed weights, second paths. Each is taken off
 * alone, in any order, and what the module had before the first is there again after the last.
 */

export type Forward = (...inputs: unknown[]) => unknown;

interface Layer {
  readonly plain: Forward;
  /** Whether `plain` was a field of the module itself, as an arrow function is. */
  readonly own: boolean;
  on: boolean;
}

/** What stands around a forward, by what it made of it. */
const layers = new WeakMap<object, Layer>();

type Wrapped = object & { forward: unknown };

function put(m: Wrapped, forward: Forward): void {
  Object.defineProperty(m, "forward", { value: forward, configurable: true, writable: true });
}

/**
 * Lets `around` run in the place of a module's forward, which it is handed. The result takes it off
 * again.
 */
export function wrapForward(
  m: Wrapped,
  around: (plain: Forward, inputs: unknown[]) => unknown,
): () => void {
  const plain = m.forward as Forward;
  const layer: Layer = { plain, own: Object.hasOwn(m, "forward"), on: true };
  const forward: Forward = (...inputs) =>
    layer.on ? around((...xs) => plain.apply(m, xs), inputs) : plain.apply(m, inputs);
  layers.set(forward, layer);
  put(m, forward);
  return () => {
    layer.on = false;
    uncover(m);
  };
}

/** Takes off the outermost ones that are off; one below another passes everything meanwhile. */
function uncover(m: Wrapped): void {
  for (;;) {
    const outer = layers.get(m.forward as object);
    if (!outer || outer.on) return;
    if (outer.own) put(m, outer.plain);
    else delete (m as { forward?: unknown }).forward;
  }
}
