/** `@kiln-ml/xla`: Kiln's programs on XLA, over several devices and hosts. */
export {
  byPath,
  dataParallel,
  fsdp,
  type Mesh,
  mesh,
  type Recipe,
  tensorParallel,
} from "@kiln-ml/stablehlo";
export { type Xla, xla } from "./engine.ts";
export type { XlaOptions } from "./options.ts";
export type { Hosts } from "./protocol.ts";
