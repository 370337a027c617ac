/** Which layers and parameters of a network are meant: those whose path a pattern matches. */
import { GraphError } from "@kiln-ml/ir";

/**
 * Whether a path matches, all without a pattern. A pattern that goes on from its last match (flags
 * g and y) would leave out every other path.
 */
export function matching(op: string, paths: RegExp | undefined): (path: string) => boolean {
  if (paths === undefined) return () => true;
  if (!(paths instanceof RegExp))
    throw new GraphError(
      `${op}: paths are matched by a RegExp, got ${typeof paths}\n  say /^name/`,
    );
  const pattern = new RegExp(paths.source, paths.flags.replace(/[gy]/g, ""));
  return (path) => pattern.test(path);
}
