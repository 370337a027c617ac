/**
 * The error classes of the project, named after who must act. A leaf: it imports nothing, and the
 * artifact package re-exports it so that a user catches one class everywhere.
 */

/** Every error that Kiln throws on purpose. The message is one line, then at most one line of repair. */
export class KilnError extends Error {
  override name = "KilnError";
}

/** Shapes, ranks, axes or symbolic dims do not fit. */
export class ShapeError extends KilnError {
  override name = "ShapeError";
}

/** Element types do not fit. */
export class DtypeError extends KilnError {
  override name = "DtypeError";
}

/** The program is not one that can be compiled or differentiated; the user's graph must change. */
export class GraphError extends KilnError {
  override name = "GraphError";
}

/** A run that was asked to check itself met a number or an index that is none; the data or the function must change. */
export class CheckError extends KilnError {
  override name = "CheckError";
}

/** A file is damaged, hostile, or of another version. */
export class ArtifactError extends KilnError {
  override name = "ArtifactError";
}

/** The machine cannot do it: no adapter, lost device, over a limit. */
export class DeviceError extends KilnError {
  override name = "DeviceError";
}

/** Our own mistake: `where` names the pass or module, `detail` the IR it was looking at. */
export function bug(where: string, what: string, detail = ""): never {
  throw new KilnError(
    `bug in ${where}: ${what}${detail ? `\n${detail}` : ""}\n  please report this with the program`,
  );
}
