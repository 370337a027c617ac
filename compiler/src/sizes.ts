/**
 * How large a kernel may become, and how far the compiler looks for one: what engines optimise,
 * what a text may take to print, and what a compile may take. Numbers of no target's machine.
 */

/** Kernels, by `bench --compile` and the limits of V8 (2026-11). */
export const kernels = {
  /**
   * Nodes of a kernel, those inlined in it included: engines leave much larger functions
   * unoptimised.
   */
  mostComputed: 1024,
  /**
   * Nodes that are inlined in one: what remains is room for what reads them, such as a gradient
   * that computes them again.
   */
  mostInlined: 256,
  /**
   * Tensors of one kernel. A wasm function has at most 1,000 parameters, and more streams than this
   * only evict each other.
   */
  mostTensors: 128,
  /** With all that runs beside it. */
  mostBeside: 512,
  /** Once something was too large, kernels are cut with less waste. */
  tensorsOfCut: 48,
  /** Members from which on one that binds too much is halved: one fewer is not what it lacks. */
  manyMembers: 64,
  /** Movements one after the other: each makes index expressions and conditions longer. */
  mostMoves: 24,
  /** Runs over a row, each of which may compute anew what it takes from earlier ones. */
  mostPhases: 16,
  /** Rows up to this long are read beside others of their loops. */
  shortRow: 32,
  /** What has so many times fewer elements than a value is read beside it for nothing. */
  littleShare: 16,
  /** Pieces of a concatenation: each element is looked for among them. */
  mostPieces: 64,
};

/** Statements and expressions (2026-11). */
export const texts = {
  /** Iterations of a loop that are written out. */
  written: 9,
  /** Deeper expressions are given names on the way, so that no walk over one goes deeper. */
  deepest: 64,
};

/** Searches in a graph, so that none takes longer than the rest of a compile (2026-11). */
export const searches = {
  /** Elements of a value that is computed while compiling. */
  foldedElements: 64,
  /** What weights are multiplied by one after the other. */
  factorsOfWeights: 64,
  /** Far more than gradients of attention have; squares of squares have as many as paths. */
  factorsOfProduct: 32,
  /** What a sum adds up that is looked at one by one. */
  termsOfSum: 16,
  /** From a number to the sum that it is the mean of. */
  stepsToMean: 8,
  /** More groups than these share what they read with a reduction of any sense. */
  readingGroups: 256,
};

/** What a symbolic extent without a bound is taken to be (2026-11). */
export const extentGuess = 256;

/** Operations of an element that is sorted: comparisons and moves among a thousand (2026-11). */
export const sortFlops = 40;

/** Sums in blocks that are compensated; of so many blocks none needs it (2026-11). */
export const compensated = {
  blocks: 64,
  /** Updates from which on a scatter that takes in most of them is compensated. */
  updates: 1024,
};
