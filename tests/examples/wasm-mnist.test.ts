/** The example mnist on wasm. */
import { test } from "uvu";
import { sameOn } from "./on-targets.ts";

sameOn("mnist", ["wasm"]);

test.run();
