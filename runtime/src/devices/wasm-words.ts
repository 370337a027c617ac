/**
 * Where what stands in the records of calls and in the control block. Numbers alone, which bundlers
 * put where they are used, so that both sides of an `import()` may have them.
 */

/**
 * Words of a record: how many arguments, which function, then the three numbers of `partOf`, then
 * the arguments.
 */
export const argcAt = 0;
export const entryAt = 1;
export const unitsAt = 2;
export const piecesAt = 3;
export const partsAt = 4;
export const argsAt = 5;

/**
 * Bits of the control block's `claim` for the part. All of them set: the call is over, or not
 * ready.
 */
export const partBits = 8;
export const noPart = 2 ** partBits - 1;
