/** The example digits on auto, js and wasm. */
import { test } from "uvu";
import { sameOn } from "./on-targets.ts";

sameOn("digits", ["auto", "wasm"]);

test.run();
