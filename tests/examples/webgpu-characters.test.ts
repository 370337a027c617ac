/** The example characters.ts on webgpu, whose software adapter takes its time. */
import { test } from "uvu";
import { sameOn } from "./on-targets.ts";

sameOn("characters.ts", ["webgpu"]);

test.run();
