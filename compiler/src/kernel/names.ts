/**
 * Names inside kernel IR. Those of a program (its dims) are identifiers; a mark tells the
 * compiler's own from them, so that a tensor or dim may have any name: `i0'` is an index variable,
 * `x@` a buffer. Printers drop the marks.
 */

/** The name of an index variable: a loop's, or one bound by a statement. */
export const indexName = (name: string): string => `${plainName(name)}'`;

/** Whether a name is an index variable's, and not one of the program. */
export const isIndex = (name: string): boolean => name.endsWith("'");

/** The name of a buffer that the kernel is given. */
export const bufferName = (name: string): string => `${plainName(name)}@`;

/** The name as it was wanted, for people. Not unique. */
export const plainName = (name: string): string => name.replace(/['@]/g, "");
