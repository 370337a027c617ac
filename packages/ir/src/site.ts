/**
 * Where in the user's program a node was built: the first stack frame outside Kiln's own files.
 */

let depth = 12;

/**
 * Turns site capture off (0) or sets how many frames are searched; returns what it was. Capturing costs about 1 µs
 * a node.
 */
export function setSiteDepth(frames: number): number {
  const before = depth;
  depth = frames;
  return before;
}

const ours =
  /[\\/](?:packages[\\/](?:ir|nn|optim|data|artifact|kiln)|compiler|runtime)[\\/](?:src|dist)[\\/]|[\\/]node_modules[\\/](?:@kiln-ml|kiln-ml)[\\/]|node:internal/;

/** A stack as it was captured. Its text, which takes far longer to make, is made when the site is asked for. */
export class Trace {
  readonly #error: Error;
  #site: string | undefined;
  #read = false;

  constructor(error: Error) {
    this.#error = error;
  }

  /** `file.ts:12:5`, or undefined when every frame is ours. */
  get site(): string | undefined {
    if (!this.#read) this.#site = siteIn(this.#error.stack ?? "");
    this.#read = true;
    return this.#site;
  }
}

/** The stack of the caller's caller. */
export function captureTrace(): Trace | undefined {
  if (depth === 0) return undefined;
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = depth;
  const error = new Error();
  Error.stackTraceLimit = before;
  return new Trace(error);
}

function siteIn(stack: string): string | undefined {
  for (const line of stack.split("\n").slice(2)) {
    if (ours.test(line)) continue;
    const m = /\(?((?:file:\/\/)?[^\s()]+:\d+:\d+)\)?$/.exec(line);
    if (m) return m[1]!.replace(/^file:\/\//, "");
  }
  return undefined;
}
