/**
 * What a compiler has to know of a machine to weigh one kernel against another. A table a target,
 * each number with its source and date, so that who has another card edits one page. Decides
 * nothing; imports nothing.
 */

export interface Machine {
  readonly name: string;
  /** Processors that have registers and schedulers of their own: multiprocessors, cores. */
  readonly units: number;
  /** Registers of 32 bits that a unit has. */
  readonly registers: number;
  /** Bytes that memory moves while a kernel that does nothing takes its time. */
  readonly launch: { readonly bytes: number };
  /** Lines of the tile of a large product: an element is brought once for so many results. */
  readonly tileLines: number;
}
