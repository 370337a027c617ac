/**
 * The engine's process: started, spoken to over a pipe of its own beside its standard streams, and
 * watched. Each request gets one answer, in order; when the process ends, all that wait are told
 * why, once. Large parts go through shared memory, once the process has shown that it sees it.
 */
import { type ChildProcess, spawn } from "node:child_process";
import type { Duplex } from "node:stream";
import { DeviceError } from "@kiln-ml/ir";
import { type Answer, Decoder, encode, type Frame, type Part, type Request } from "./protocol.ts";
import { type Stored, sharedFrom, storeShared } from "./shared-memory.ts";

export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

interface Waiting {
  /** What the request has in shared memory. */
  readonly stored: readonly Stored[];
  readonly resolve: (frame: Frame<Answer>) => void;
  readonly reject: (error: Error) => void;
}

const wayOut =
  '\n  install it: python3 -m pip install "jax>=0.11" numpy; or name another Python by KILN_PYTHON, or xla({ python })';

/** The byte that is offered in shared memory. */
const seen = 0x4b;

/** The last of what the process said, as one line. */
const lastLine = (text: string): string => text.trim().split("\n").at(-1)!.trim().slice(0, 200);

export class Sidecar {
  readonly command: Command;
  readonly #child: ChildProcess;
  readonly #pipe: Duplex;
  readonly #waiting = new Map<number, Waiting>();
  #seq = 0;
  #shares = false;
  /** Parts of answers that were taken from shared memory since the last request. */
  #taken = 0;
  #said = "";
  #why: DeviceError | undefined;

  constructor(command: Command) {
    this.command = command;
    const { program, args, env } = command;
    this.#child = spawn(program, [...args], {
      stdio: ["ignore", "pipe", "pipe", "pipe"],
      env: { ...process.env, ...env },
    });
    this.#pipe = this.#child.stdio[3] as Duplex;
    const decoder = new Decoder<Answer>((frame) => this.#answered(frame));
    this.#pipe.on("data", (chunk: Uint8Array) => decoder.push(chunk));
    // The end of the process says more than a pipe that is closed.
    this.#pipe.on("error", () => {});
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on("data", (chunk: Buffer) => {
        this.#said = (this.#said + chunk).slice(-4000);
      });
    this.#child.on("error", (error: NodeJS.ErrnoException) =>
      this.#end(notStarted(command, error)),
    );
    this.#child.on("close", (code, signal) => this.#end(this.#ended(code, signal)));
    this.#idle();
  }

  /** Why nothing can be asked any more; undefined while it runs. */
  get failure(): DeviceError | undefined {
    return this.#why;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Rejects with DeviceError if the process ends first, or answers with an error. */
  request(request: Request, parts: readonly Uint8Array[] = [], free: readonly number[] = []) {
    return new Promise<Frame<Answer>>((resolve, reject) => {
      if (this.#why) return reject(this.#why);
      const seq = this.#seq++;
      const { placed, stored } = this.#placed(parts);
      this.#waiting.set(seq, { resolve, reject, stored });
      this.#child.ref();
      (this.#pipe as unknown as { ref?(): void }).ref?.();
      const more = { ...(free.length ? { free } : {}), ...(this.#taken && { taken: this.#taken }) };
      this.#taken = 0;
      for (const chunk of encode({ ...request, seq, ...more }, placed)) this.#pipe.write(chunk);
    });
  }

  /**
   * Says hello, and offers shared memory with it. A process that reads what lies there answers with
   * its first byte, and gets large parts that way from then on.
   */
  async greet(hello: Request & { readonly op: "hello" }): Promise<Answer> {
    const offer = storeShared(Uint8Array.of(seen));
    try {
      const shared = offer && { shared: offer.part };
      const { header } = await this.request({ ...hello, ...shared });
      this.#shares = header.shared === seen;
      return header;
    } finally {
      offer?.close();
    }
  }

  /** Whether large parts go through shared memory. */
  get shares(): boolean {
    return this.#shares;
  }

  /** Copies of parts, so that whoever asks may write into theirs at once. */
  #placed(parts: readonly Uint8Array[]): { placed: Part[]; stored: Stored[] } {
    const stored: Stored[] = [];
    const placed = parts.map((bytes) => {
      const held = this.#shares && bytes.length >= sharedFrom ? storeShared(bytes) : undefined;
      if (!held) return bytes.slice();
      stored.push(held);
      return held.part;
    });
    return { placed, stored };
  }

  /** Ends the process. */
  close(): void {
    this.#end(new DeviceError("xla: the engine was closed\n  the next run starts another"));
    this.#pipe.end();
    this.#child.kill();
  }

  #answered(frame: Frame<Answer>): void {
    const { seq, error } = frame.header;
    const waiting = this.#waiting.get(seq);
    this.#waiting.delete(seq);
    for (const held of waiting?.stored ?? []) held.close();
    const entries = frame.header.parts as readonly unknown[];
    this.#taken += entries.filter((p) => typeof p !== "number").length;
    if (this.#waiting.size === 0) this.#idle();
    if (error) waiting?.reject(new DeviceError(error.message));
    else waiting?.resolve(frame);
  }

  /** A process that waits for nothing does not keep Node alive. */
  #idle(): void {
    this.#child.unref();
    for (const stream of [this.#pipe, this.#child.stdout, this.#child.stderr])
      (stream as unknown as { unref?(): void } | null)?.unref?.();
  }

  #ended(code: number | null, signal: NodeJS.Signals | null): DeviceError {
    const how = signal ? `was ended by ${signal}` : `ended with code ${code}`;
    const last = this.#said.trim() ? `: ${lastLine(this.#said)}` : "";
    return new DeviceError(
      `xla: the engine's process ${how}${last}\n  what it held is lost; go on from the last checkpoint: fit(…, { resume: folder })`,
    );
  }

  #end(why: DeviceError): void {
    if (this.#why) return;
    this.#why = why;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject, stored } of waiting) {
      for (const held of stored) held.close();
      reject(why);
    }
  }
}

function notStarted({ program }: Command, error: NodeJS.ErrnoException): DeviceError {
  const why = error.code === "ENOENT" ? "was not found" : `cannot be started: ${error.message}`;
  return new DeviceError(`xla: ${program} ${why}${wayOut}`, { cause: error });
}
