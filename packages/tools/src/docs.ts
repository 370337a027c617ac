/**
 * Writes the pages of `docs/` that are made from the sources: `npm run docs`. A test fails while one of them is stale.
 */
import { writeFileSync } from "node:fs";
import { generatedPages } from "./docs/pages.ts";

for (const [path, text] of generatedPages()) writeFileSync(path, text);
