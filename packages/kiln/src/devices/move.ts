/**
 * Moving parameters between devices, and host copies of them from which a lost device is replaced.
 * Compiled functions without a target of their own follow their parameters.
 */
import { DeviceError, GraphError, type HostArray, Stateful, type Tensor } from "@kiln-ml/ir";
import { flush, homeOf } from "../eager/eager.ts";
import { type StateSource, stateOf } from "../state/state.ts";
import { arraysOf } from "./engine.ts";
import { defaultTarget, inOrder, type Session, sessionFor, type TargetOption } from "./session.ts";
import { isPinned, markChanged, pin, store, storedOf } from "./storage.ts";

declare module "@kiln-ml/ir" {
  interface Stateful {
    /** Moves all state to the device of a target: `await model.to("webgpu")`. */
    to(target: TargetOption): Promise<this>;
  }
}

Object.defineProperty(Stateful.prototype, "to", {
  configurable: true,
  writable: true,
  value(this: Stateful, target: TargetOption) {
    return to(this, target);
  },
});

/**
 * Moves the state of a module or optimizer to the device of a target. Rejects with DeviceError if
 * there is none. `torch.nn.Module.to(device)`.
 *
 * @param source A module, an optimizer, or tensors by name.
 * @param target "auto", "js", "wasm", "native" or "webgpu".
 * @example
 *   const net = await to(new nn.Linear(2, 1), "js");
 *   net.forward(ones([1, 2])).shape // [1, 1]
 */
export function to<T extends StateSource>(source: T, target: TargetOption): Promise<T> {
  return inOrder(async () => {
    await flush();
    const params = [...stateOf(source).values()];
    await moveAll(params, await sessionFor(target));
    pin(params, target !== "auto");
    return source;
  });
}

/** Brings parameters into `session`; those without a value get their first one there. */
export async function moveAll(params: readonly Tensor[], session: Session): Promise<void> {
  for (const p of params) {
    const at = storedOf(p);
    if (!at || at.session === session) continue;
    const host = await at.array.data();
    store(p, session, session.device.upload(host, p.dtype, p.shape as readonly number[]));
    at.array.dispose();
  }
  await arraysOf(session, params);
}

const apartFrom = (states: readonly Tensor[], session: Session): Tensor[] =>
  states.filter((t) => {
    const home = storedOf(t)?.session;
    return t.op === "param" && home !== undefined && home !== session;
  });

/** Brings along what a move left behind, such as the moments of moved parameters. */
export async function gather(states: readonly Tensor[], session: Session): Promise<void> {
  const apart = apartFrom(states, session);
  if (apart.length) await moveAll(apart, session);
}

/** What no name has placed so far follows a function whose target has a name, and stays there. */
export async function claim(states: readonly Tensor[], session: Session): Promise<void> {
  const free = apartFrom(states, session).filter((t) => !isPinned(t));
  if (free.length) await moveAll(free, session);
  pin(states);
}

/** Host copies of parameters. Holds them and their tensors until it is let go. */
export interface HostSnapshot {
  readonly values: ReadonlyMap<Tensor, HostArray>;
}

/**
 * Copies all state to the host: what `restore` needs when a device is lost. `copy.deepcopy` of
 * `torch.nn.Module.state_dict()`.
 *
 * @param source A module, an optimizer, or tensors by name.
 * @example
 *   const w = param([1, 2]);
 *   const { values } = await snapshot({ w });
 *   values.get(w) // [1, 2]
 */
export function snapshot(source: StateSource): Promise<HostSnapshot> {
  return inOrder(async () => {
    await flush();
    const values = new Map<Tensor, HostArray>();
    for (const t of stateOf(source).values()) {
      const session = storedOf(t)?.session ?? (await sessionFor());
      const [array] = await arraysOf(session, [t]);
      values.set(t, await array!.data());
    }
    return { values };
  });
}

/**
 * Puts a snapshot onto the device of a target, by default that where the values lived, newly opened
 * if it was lost. Functions compiled before bind to it at their next call. No counterpart in
 * PyTorch.
 *
 * @param from What `snapshot` gave.
 * @param target Where to; where the values lived by default.
 * @example
 *   const w = param([1, 2]);
 *   const copy = await snapshot({ w });
 *   await compile(() => { assign(w, w.mul(10)); })();
 *   await restore(copy);
 *   w // [1, 2]
 */
export function restore(from: HostSnapshot, target?: TargetOption): Promise<void> {
  return inOrder(async () => {
    if (!(from?.values instanceof Map))
      throw new GraphError("restore: takes what snapshot returned");
    const session = target
      ? await sessionFor(target)
      : await reopened(homeOf([...from.values.keys()]));
    pin(from.values.keys(), (target ?? "auto") !== "auto");
    for (const [t, host] of from.values) {
      store(t, session, session.device.upload(host, t.dtype, t.shape as readonly number[]));
      markChanged(t);
    }
  });
}

/**
 * The session that now has the target of `home`; that of the default if the device is gone for
 * good.
 */
async function reopened(home: Session | undefined): Promise<Session> {
  if (!home || defaultTarget() !== "auto") return sessionFor();
  try {
    return await sessionFor(home.target);
  } catch (error) {
    if (error instanceof DeviceError) return sessionFor();
    throw error;
  }
}
