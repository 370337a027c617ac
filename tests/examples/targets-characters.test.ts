/** The example characters on auto, js and wasm. */
import { test } from "uvu";
import { sameOn } from "./on-targets.ts";

sameOn("characters.ts", ["auto", "wasm"]);

test.run();
