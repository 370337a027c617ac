/**
 * What this package is given, looked at before anything is read of it: lists, bytes and pictures.
 */
import { GraphError, kindOf, ShapeError } from "@kiln-ml/ir";

/** Throws GraphError unless `list` is a list or a typed array. */
export function checkValues(op: string, what: string, list: unknown): void {
  if (!Array.isArray(list) && (!ArrayBuffer.isView(list) || list instanceof DataView))
    throw new GraphError(
      `${op}: ${what} must be a list or a typed array, got ${kindOf(list)}\n  pass one value for each sample`,
    );
}

/** Throws GraphError unless `bytes` are those of a file. */
export function checkBytes(op: string, bytes: unknown): void {
  if (!(bytes instanceof Uint8Array))
    throw new GraphError(
      `${op}: takes the bytes of a file, got ${kindOf(bytes)}\n  pass a Uint8Array: await readFile(path), or new Uint8Array(await response.arrayBuffer())`,
    );
}

/** Throws GraphError unless `picture` is one, ShapeError unless it is to become `height` by `width`. */
export function checkPicture(op: string, picture: unknown, height: unknown, width: unknown): void {
  const { data, shape } = (picture ?? {}) as { data?: unknown; shape?: unknown };
  if (!(data instanceof Uint8Array) || !Array.isArray(shape) || shape.length !== 3)
    throw new GraphError(
      `${op}: takes a picture, got ${kindOf(picture)}\n  pass what decodeImage gives: { data, shape: [height, width, channels] }`,
    );
  for (const size of [height, width])
    if (!Number.isSafeInteger(size) || (size as number) < 1)
      throw new ShapeError(
        `${op}: height and width must be whole numbers of 1 or more, got ${kindOf(size)}\n  pass both, in pixels`,
      );
}
