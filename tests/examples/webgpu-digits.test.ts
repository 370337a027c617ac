/** The example digits on webgpu, whose software adapter takes its time. */
import { test } from "uvu";
import { sameOn } from "./on-targets.ts";

sameOn("digits", ["webgpu"]);

test.run();
