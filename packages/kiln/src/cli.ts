#!/usr/bin/env node
/** The `kiln` command. */
import { main } from "./cli/main.ts";
import { endWithReader } from "./cli/terminal.ts";

endWithReader();
const code = await main(process.argv.slice(2));
// A script may have set its own code.
if (code !== 0) process.exitCode = code;
