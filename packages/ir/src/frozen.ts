/**
 * Which parameters are not to be trained for now. A mark beside the graph, read by modules and optimizers whenever a program is
 * defined; the graph itself does not change.
 */
import type { Tensor } from "./node.ts";
import { changeSetting, readSetting } from "./premise.ts";

const frozen = new WeakSet<Tensor>();

/** Whether a parameter is frozen; a program that was defined with the answer holds for as long as it stays. */
export function isFrozen(t: Tensor): boolean {
  const found = frozen.has(t);
  readSetting(t, () => frozen.has(t) === found);
  return found;
}

/** From here on optimizers leave the parameter as it is, or move it again. */
export function setFrozen(t: Tensor, on: boolean): void {
  changeSetting(t);
  if (on) frozen.add(t);
  else frozen.delete(t);
}
