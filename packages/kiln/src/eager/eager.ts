/**
 * Reading values outside `compile`: the subgraph a tensor needs is compiled and run, pending assignments with it.
 */
import { ambientUpdates, currentValue, inlineCalls, type Tensor } from "@kiln-ml/ir";
import type { DeviceArray } from "@kiln-ml/runtime/loader";
import { isValue, structureOf } from "../compile/structure.ts";
import { arraysOf, computeSomewhere, type Updates } from "../devices/engine.ts";
import { type Session, sessionFor } from "../devices/session.ts";
import { store, storedOf } from "../devices/storage.ts";
import { computeBelow, readsOf } from "./pieces.ts";

/** The pending assignments, which are cleared. */
function takeUpdates(): Updates {
  const updates = ambientUpdates();
  const taken = [...updates];
  updates.clear();
  return taken;
}

/** The session where the first of the values lives that lives anywhere; trained parameters first, data last. */
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
  const home = homeOf(updates.map(([param]) => param));
  const begun = await computeBelow(
    home,
    updates.map(([, value]) => value),
  );
  await computeSomewhere(begun, [], updates);
}

/** The session where what a tensor is computed from lives, if anywhere. */
export function sessionOfTensor(t: Tensor): Session | undefined {
  const { leaves, params } = structureOf(inlineCalls([currentValue(t)], isValue));
  return homeOf([...params, ...leaves]);
}

/** The value of `t` on a device, computed unless it is known. */
export async function evaluateTensor(
  session: Session | undefined,
  t: Tensor,
): Promise<DeviceArray> {
  const root = currentValue(t);
  const known = storedOf(root);
  if (known && root.op !== "param") {
    await flush();
    return known.array;
  }
  const updates = takeUpdates();
  if (root.op === "param" && !updates.length)
    return (await arraysOf(session ?? (await sessionFor()), [root]))[0]!;
  const asked = [root, ...updates.map(([, value]) => value)];
  const reads = readsOf(inlineCalls([root], isValue));
  const begun = await computeBelow(session, asked);
  const { session: home, arrays } = await computeSomewhere(begun, [root], updates);
  const [array] = arrays;
  if (root.op !== "param") store(root, home, array!, reads);
  return array!;
}
