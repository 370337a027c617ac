/**
 * The table of samples: an op of the standard by its name, one of another domain with the domain in
 * front.
 */
import { chains } from "./chains.ts";
import { control } from "./control.ts";
import { elementwise, type Sampler } from "./elementwise.ts";
import { images } from "./image.ts";
import { microsoft } from "./microsoft.ts";
import { movement } from "./movement.ts";
import { network } from "./network.ts";
import { norms } from "./norm.ts";
import { quantized } from "./quantized.ts";
import { rare } from "./rare.ts";
import { reduction } from "./reduction.ts";

export const samplers: Readonly<Record<string, Sampler>> = {
  ...elementwise,
  ...movement,
  ...reduction,
  ...network,
  ...norms,
  ...images,
  ...quantized,
  ...microsoft,
  ...chains,
  ...control,
  ...rare,
};
