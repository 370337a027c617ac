/** The example xor-keras on webgpu, whose software adapter takes its time. */
import { test } from "uvu";
import { sameOn } from "./on-targets.ts";

sameOn("xor-keras.ts", ["webgpu"]);

test.run();
