/** The example linear-regression on webgpu, whose software adapter takes its time. */
import { test } from "uvu";
import { sameOn } from "./on-targets.ts";

sameOn("linear-regression.ts", ["webgpu"]);

test.run();
