/**
 * Products on WebGPU: the cost model's numbers beside the rates of `tile-rates.ts`, and shapes of
 * the kernels for few lines, windows and attention. Fitted and tried on an NVIDIA H200.
 */

/**
 * Time of a tiling, docs/decisions/gpu-contraction.md (2026-11): replayed over 34 products whose
 * every tile had been timed, its choice took 4 % longer than the best.
 */
export const tileModel = {
  /** What a symbolic extent is taken to be. */
  usual: 1024,
  /** Invocations that give each of the four schedulers of a unit one subgroup. */
  parted: 128,
  /** Devices with less workgroup memory than this have smaller register files as well. */
  large: 49152,
  /** Thread tiles of more results than this are large, of more than `middle` not small. */
  many: 64,
  middle: 32,
  /** Invocations resident on a unit, by the registers that a thread tile takes: occupancy. */
  resident: { many: 256, middle: 512, small: 1024 },
  /** Rate as a power of occupancy: of large tiles, and of others. */
  latency: { many: 0.85, others: 0.22 },
  /**
   * Prologue and epilogue of a workgroup in steps of K, if it is alone on its unit and its epilogue
   * reads and stores nothing.
   */
  overhead: 64,
  /** Bands beyond whole tiles are taken where this many times their cost is less. */
  worthEdges: 1.05,
};

/**
 * Fraction of the rate left after register pressure, where elements are staged in registers one by
 * one, fitted with the same products (2026-11).
 */
export const pressure = {
  /**
   * Live values past which a kernel spills: fewer if loads are guarded or tiles differ in shape.
   */
  live: 170,
  guarded: 155,
  mixed: 10,
  spilled: 0.4,
  /** Elements of an invocation in a step from which on there are many. */
  many: 24,
  rate: 0.9,
  rateOfMany: 0.85,
  /** Of windows, whose elements have an address each. */
  window: 0.89,
  windowOfMany: 0.75,
  /** 0.84 to 0.95 of the rate of 64 results, where f32 has more than that. */
  widened: 0.9,
};

/** Bands of edge tiles, docs/decisions/products-beyond-whole-tiles.md (2026-11). */
export const edges = {
  /** Lines of a band, the fewest that are enough. */
  widths: [4, 8, 16, 32],
  /** Workgroups of fewer invocations are not cut so. */
  leastInvocations: 64,
  /** Registers for results of a unit that has none for anything beside a workgroup. */
  fullUnit: 16384,
  /** Steps of K, and lines times slices of K. */
  depth: 32,
  slicedLines: 64,
  /** Share of the rate: fewer invocations hide no latency, more find no room beside whole tiles. */
  invocations: 128,
  rate: 0.3,
  otherRate: 0.06,
};

/** Matrix units, fitted with `matrixRates` (2026-11). */
export const matrixModel = {
  usual: 1024,
  /**
   * Multiprocessors that the rates were fitted for. With the card's own number one choice in 66 is
   * another, which is to be timed first.
   */
  units: 128,
  /** Registers of an invocation beside those of its sums. */
  otherRegisters: 64,
  /**
   * A step takes as long as this many products do at the full rate, however few there are: elements
   * have to come.
   */
  latency: 1e6,
};

/** Products with few lines on one side (2026-11). */
export const skinny = {
  /** Sums as short as a small window's: an invocation has all of one, and nothing is joined. */
  shortLength: 49,
  /**
   * Below this a workgroup for a line, and lines of less than a workgroup, are worse than tiles.
   */
  leastAlongK: 256,
  leastLines: 32,
  invocations: 256,
  /** Invocations of a workgroup that takes one line, and others to try. */
  sizes: [64, 32, 128, 256],
  /** Lines of a workgroup along which memory runs, 128 bytes of them; and others to try. */
  runs: [32, 16, 64, 128],
  /** Steps of k of an invocation that are on their way together; and more to try. */
  together: [4, 8] as const,
};

/** Products of one left operand in one kernel: what `skinny` takes, of any depth (2026-11). */
export const siblings = { columns: skinny.leastLines, depth: 2, alongDepth: false };

/** Windows of convolutions (2026-11). */
export const windows = {
  /** Windows of at most this many places are walked place by place. */
  mostPlaces: 64,
  /** How many times more elements than there are may be walked for it. */
  mostWaste: 1.15,
};

/** Loops of a tile and of its arrays (2026-11). */
export const tileLoops = {
  /** Products of an invocation from which on a step's loop is written out. */
  written: 16,
  /** Parts of fewer lines than this are moved by their number, to meet different banks. */
  bankedLines: 64,
};

/** Attention and its gradients, docs/decisions/attention-without-scores.md (2026-11). */
export const attention = {
  /** Invocations that share lines; each has every sixteenth row. */
  groups: 16,
  /** Depths of a step, as far as memory allows. */
  depths: [32, 16, 8],
  /**
   * Longer steps have fewer barriers, but leave a device that has no more memory fewer workgroups
   * at a time: for the forward kernel, for gradients, and for those of heads of 64.
   */
  deepest: 16,
  deepestOfGradient: 16,
  deepestOf64: 32,
  /** Accumulators of an invocation that leave it registers for the rest. */
  mostAccumulators: 128,
  /** Terms of a score and columns of a sum that a kernel has room for. */
  mostTerms: 256,
};
