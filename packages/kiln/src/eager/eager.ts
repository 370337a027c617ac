/**
 * Reading values outside `compile`: the subgraph a tensor needs is compiled and run, pending
 * assignments with it.
 */
import { ambientUpdates, currentValue, type Tensor } from "@kiln-ml/ir";
import type { DeviceArray } from "@kiln-ml/runtime/loader";
import { type Asked, askedOf } from "../compile/structure.ts";
import { arraysOf, type Computed, computeSomewhere, type Updates } from "../devices/engine.ts";
import { type Session, sessionFor } from "../devices/session.ts";
import { store, storedOf } from "../devices/storage.ts";
import { computeBelow, mostDepth, readsOf } from "./pieces.ts";

/** The pending assignments, which are cleared. */
function takeUpdates(): Updates {
  const updates = ambientUpdates();
  const taken = [...updates];
  updates.clear();
  return taken;
}

/**
 * The session where the first of the values lives that lives anywhere; trained parameters first,
 * data last.
 */
export function homeOf(leaves: readonly Tensor[]): Session | undefined {
  const rank = (t: Tensor) => (t.op !== "param" ? 2 : t.attrs.trainable ? 0 : 1);
  const ordered = [...leaves].sort((a, b) => rank(a) - rank(b));
  for (const t of ordered) {
    const home = storedOf(t)?.session;
    if (home) return home;
  }
  return undefined;
}

/** True if assignments made outside any trace wait to be run. */
export const hasPending = (): boolean => ambientUpdates().size > 0;

/** Runs pending assignments, so that what is traced next reads parameters as themselves. */
export async function flush(): Promise<void> {
  const updates = takeUpdates();
  if (!updates.length) return;
  const params = updates.map(([param]) => param);
  const values = updates.map(([, value]) => value);
  const begun = await computeBelow(homeOf(params), values);
  await computeSomewhere(begun, askedOf(values, params), updates);
}

/**
 * The value of `t` on a device, computed unless it is known: where the caller says, or where what
 * it is made of lives.
 */
export async function evaluateTensor(given: Session | undefined, t: Tensor): Promise<DeviceArray> {
  const root = currentValue(t);
  const known = storedOf(root);
  if (known && root.op !== "param") {
    await flush();
    return known.array;
  }
  const own = askedOf([root]);
  const updates = takeUpdates();
  const session = given ?? homeOf([...own.params, ...own.leaves]);
  if (root.op === "param" && !updates.length)
    return (await arraysOf(session ?? (await sessionFor()), [root]))[0]!;
  const reads = readsOf(own);
  const { session: home, arrays } = await computeWith(session, own, updates);
  const [array] = arrays;
  if (root.op !== "param") store(root, home, array!, reads);
  return array!;
}

/** What is asked, and the updates with it. One program, unless what it takes is very deep. */
async function computeWith(
  session: Session | undefined,
  asked: Asked,
  updates: Updates,
): Promise<Computed> {
  if (updates.length === 0 && asked.nodes <= mostDepth) return computeSomewhere(session, asked);
  const values = [...asked.roots, ...updates.map(([, value]) => value)];
  const params = updates.map(([param]) => param);
  const begun = await computeBelow(session, values);
  return computeSomewhere(begun, askedOf(values, params), updates);
}
