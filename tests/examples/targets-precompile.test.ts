/** The model that is compiled ahead of time, on every target. */
import { test } from "uvu";
import { sameOn } from "./on-targets.ts";

sameOn("precompile", ["auto", "wasm", "webgpu"]);

test.run();
