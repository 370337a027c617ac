/**
 * The engine's process: started, spoken to over a pipe of its own beside its standard streams, and
 * watched. Each request gets one answer, in order; when the process ends, all that wait are told
 * why, once.
 */
import { type ChildProcess, spawn } from "node:child_process";
import type { Duplex } from "node:stream";
import { DeviceError } from "@kiln-ml/ir";
import { type Answer, Decoder, encode, type Frame, type Request } from "./protocol.ts";

export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

interface Waiting {
  readonly resolve: (frame: Frame<Answer>) => void;
  readonly reject: (error: Error) => void;
}

const wayOut =
  '\n  install it: python3 -m pip install "jax>=0.11" numpy; or name another Python by KILN_PYTHON, or xla({ python })';

/** The last of what the process said, as one line. */
const lastLine = (text: string): string => text.trim().split("\n").at(-1)!.trim().slice(0, 200);

export class Sidecar {
  readonly command: Command;
  readonly #child: ChildProcess;
  readonly #pipe: Duplex;
  readonly #waiting = new Map<number, Waiting>();
  #seq = 0;
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
      this.#waiting.set(seq, { resolve, reject });
      this.#child.ref();
      (this.#pipe as unknown as { ref?(): void }).ref?.();
      const frame = encode({ ...request, seq, ...(free.length ? { free } : {}) }, parts);
      for (const chunk of frame) this.#pipe.write(chunk);
    });
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
    for (const { reject } of waiting) reject(why);
  }
}

function notStarted({ program }: Command, error: NodeJS.ErrnoException): DeviceError {
  const why = error.code === "ENOENT" ? "was not found" : `cannot be started: ${error.message}`;
  return new DeviceError(`xla: ${program} ${why}${wayOut}`, { cause: error });
}
