/**
 * Where in the user's program a node was built: the first stack frame outside Kiln's own files.
 */

let depth = 12;

/**
 * Turns site capture off (0) or sets how many frames are searched; returns what it was. Capturing costs about 5 µs
 * a node.
 */
export function setSiteDepth(frames: number): number {
  const before = depth;
  depth = frames;
  return before;
}

const ours =
  /[\\/](?:packages[\\/](?:ir|nn|optim|data|artifact|kiln)|compiler|runtime)[\\/](?:src|dist)[\\/]|[\\/]node_modules[\\/](?:@kiln-ml|kiln-ml)[\\/]|node:internal/;

/** `file.ts:12:5`, or undefined when every frame is ours. */
export function captureSite(): string | undefined {
  if (depth === 0) return undefined;
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = depth;
  const stack = new Error().stack ?? "";
  Error.stackTraceLimit = before;
  for (const line of stack.split("\n").slice(2)) {
    if (ours.test(line)) continue;
    const m = /\(?((?:file:\/\/)?[^\s()]+:\d+:\d+)\)?$/.exec(line);
    if (m) return m[1]!.replace(/^file:\/\//, "");
  }
  return undefined;
}
