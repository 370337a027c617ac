/** All networks, in the order of the table. */
import { imageNetworks } from "./images.ts";
import type { Network } from "./network.ts";
import { sileroNetworks } from "./silero.ts";
import { wakeWordNetwork } from "./wake-word.ts";

export const networks: readonly Network[] = [...sileroNetworks, wakeWordNetwork, ...imageNetworks];

export function networkNamed(name: string): Network {
  const found = networks.find((n) => n.name === name);
  if (!found) throw new RangeError(`models: no network ${name}`);
  return found;
}
