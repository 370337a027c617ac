/** Copies of networks, and their parameters as one. */
import { assign, GraphError, isFrozen, kindOf, param, setFrozen, Tensor, zeros } from "@kiln-ml/ir";
import { keepArguments } from "./arguments.ts";
import { refuseUnbuilt } from "./lazy.ts";
import { checkModule, Module } from "./module.ts";

/**
 * A second network with parameters of its own, which hold what those of the first hold now. What is
 * shared within the network is shared within the copy; settings such as `training` and what is
 * frozen go along; functions and other objects are the same. `copy.deepcopy(net)`.
 *
 * Throws GraphError for a module with private members (`#fc`), which nobody can copy, or one whose
 * forward was replaced, as hooks do. `copy.deepcopy` of a `torch.nn.Module`.
 *
 * @param net A module.
 * @example
 *   const net = new nn.Linear(2, 1);
 *   const target = nn.clone(net).eval();
 *   allClose(target.weight, net.weight) // true
 *   target.weight === net.weight // false
 */
export function clone<M extends Module>(net: M): M {
  checkModule("clone", net);
  const values = new Map<Tensor, Tensor>();
  const copy = copied(net, new Map(), values) as M;
  for (const [own, from] of values) assign(own, from);
  return copy;
}

function copied(x: unknown, made: Map<unknown, unknown>, values: Map<Tensor, Tensor>): unknown {
  const known = made.get(x);
  if (known !== undefined) return known;
  const keep = <T>(y: T): T => {
    made.set(x, y);
    return y;
  };
  const deep = (y: unknown): unknown => copied(y, made, values);
  if (x instanceof Tensor) return x.op === "param" ? keep(parameterLike(x, values)) : x;
  if (x instanceof Module) {
    const copy = keep(emptyLike(x));
    keepArguments(copy, x.constructorArguments().map(deep));
    return fieldsOf(x, copy, deep);
  }
  if (Array.isArray(x)) {
    const list = keep([] as unknown[]);
    for (const y of x) list.push(deep(y));
    return list;
  }
  if (x instanceof Map) {
    const map = keep(new Map<unknown, unknown>());
    for (const [k, y] of x) map.set(k, deep(y));
    return map;
  }
  if (x instanceof Set) {
    const set = keep(new Set<unknown>());
    for (const y of x) set.add(deep(y));
    return set;
  }
  if (ArrayBuffer.isView(x) && "slice" in x) return keep((x as Float32Array).slice());
  const prototype: unknown = x instanceof Object ? Object.getPrototypeOf(x) : undefined;
  return prototype === Object.prototype ? fieldsOf(x as object, keep({}), deep) : x;
}

function fieldsOf<T extends object>(from: object, to: T, deep: (x: unknown) => unknown): T {
  for (const [name, value] of Object.entries(from))
    Object.defineProperty(to, name, {
      value: deep(value),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  return to;
}

function parameterLike(t: Tensor, values: Map<Tensor, Tensor>): Tensor {
  const { name, trainable } = t.attrs as { name: string; trainable: boolean };
  const own = param(zeros(t.shape, t.dtype), { name, trainable });
  setFrozen(own, isFrozen(t));
  values.set(own, t);
  return own;
}

/** A module of the same class without its fields: only the base's constructor runs. */
function emptyLike(m: Module): Module {
  refuseUnbuilt(m, "clone");
  if (Object.hasOwn(m, "forward"))
    throw new GraphError(
      `clone: the forward of a ${m.constructor.name} was replaced, by a hook or a second path\n  take the hook off, or call nn.mergeLora first`,
    );
  for (let type: unknown = m.constructor; type !== Module; type = Object.getPrototypeOf(type)) {
    const found = privateUse.exec(Function.prototype.toString.call(type));
    if (found)
      throw new GraphError(
        `clone: ${kindOf(m)} has private members, as ${found[1]}, which nobody can copy\n  make them public, or private to TypeScript`,
      );
  }
  const copy = Reflect.construct(Module as never, [], m.constructor) as Module;
  copy.training = m.training;
  return copy;
}

/** A use of `this.#name` in the text of a class. */
const privateUse = /\bthis\.(#[\p{ID_Start}_$][\p{ID_Continue}$]*)/u;

/**
 * Assigns f(value, path) to every parameter that `parameters()` has; frozen ones and buffers stay.
 * The network is returned.
 *
 * Throws GraphError unless both are what they should be, ShapeError or DtypeError where a value
 * does not fit. `torch.nn.Module.apply`, `jax.tree.map`.
 *
 * @param net A module.
 * @param f Gives the new value, of the same shape.
 * @example
 *   const net = new nn.Linear(2, 1, { init: nn.init.ones() });
 *   nn.mapParameters(net, (w) => w.mul(0.5));
 *   net.weight // [[½, ½]]
 */
export function mapParameters<M extends Module>(
  net: M,
  f: (value: Tensor, path: string) => Tensor,
): M {
  checkModule("mapParameters", net);
  if (typeof f !== "function")
    throw new GraphError(`mapParameters: takes a function of a value, got ${kindOf(f)}`);
  const made = [...net.namedParameters()].map(([path, t]) => [t, f(t, path)] as const);
  for (const [t, value] of made) assign(t, value);
  return net;
}
