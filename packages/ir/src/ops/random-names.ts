/** What `random` has: keys, bits and the usual distributions, then the others. */
export * from "./random.ts";
export * from "./variates.ts";
