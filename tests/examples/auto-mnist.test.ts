/** The example mnist on auto. */
import { test } from "uvu";
import { sameOn } from "./on-targets.ts";

sameOn("mnist", ["auto"]);

test.run();
