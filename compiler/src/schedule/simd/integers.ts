/** Products of integers; placeholder. */
import type { InBlocks, Terms } from "./blocks.ts";
export const integerTerms = (_: InBlocks): Terms | undefined => undefined;
