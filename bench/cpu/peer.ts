/**
 * A measured process: started with its environment, asked one thing at a time, killed when it takes too long, and started
 * afresh for the next question. Knows the protocol, not what is measured.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { type Answer, mark, type Request } from "./protocol.ts";
import type { Operand } from "./workloads.ts";

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** What a process is asked: setup carries the operands for peers that cannot import them. */
export type Question =
  | Exclude<Request, { ask: "setup" }>
  | {
      readonly ask: "setup";
      readonly workload: string;
      readonly operands: Readonly<Record<string, Operand>>;
    };

type Child = ChildProcessByStdio<Writable, Readable, null>;

export class Peer {
  readonly name: string;
  readonly threads: number;
  /** What the process says it is, once it runs. */
  about = "";
  readonly #command: Command;
  #child: Child | undefined;
  #resolve: ((answer: Answer) => void) | undefined;

  constructor(name: string, threads: number, command: Command) {
    this.name = name;
    this.threads = threads;
    this.#command = command;
  }

  /** Starts the process; false if it cannot run here. */
  async start(limitMs: number): Promise<boolean> {
    const { file, args, env } = this.#command;
    const child = spawn(file, args, {
      env: { ...process.env, ...env },
      stdio: ["pipe", "pipe", "ignore"],
    });
    this.#child = child;
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (line.startsWith(mark)) this.#settle(JSON.parse(line.slice(mark.length)) as Answer);
    });
    const ended = (): void => {
      if (this.#child !== child) return;
      this.#child = undefined;
      this.#settle({ error: "the process ended" });
    };
    child.on("exit", ended);
    child.on("error", ended);
    // Writing to a process that just ended is reported by its exit.
    child.stdin.on("error", () => {});
    const { ready } = await this.#answer(limitMs);
    this.about = ready ?? this.about;
    return ready !== undefined;
  }

  async ask(question: Question, limitMs: number): Promise<Answer> {
    if (!this.#child && !(await this.start(limitMs))) return { error: "does not start" };
    this.#child?.stdin.write(`${JSON.stringify(question)}\n`);
    return this.#answer(limitMs);
  }

  /** Peak resident memory in bytes, if the process still tells. */
  async stop(): Promise<number | undefined> {
    if (!this.#child) return undefined;
    const { peakBytes } = await this.ask({ ask: "quit" }, 5000);
    this.#kill();
    return peakBytes;
  }

  #answer(limitMs: number): Promise<Answer> {
    return new Promise((resolve) => {
      const late = setTimeout(() => {
        this.#kill();
        this.#settle({ error: `> ${limitMs / 1000} s` });
      }, limitMs);
      this.#resolve = (answer) => {
        clearTimeout(late);
        resolve(answer);
      };
    });
  }

  #settle(answer: Answer): void {
    const resolve = this.#resolve;
    this.#resolve = undefined;
    resolve?.(answer);
  }

  #kill(): void {
    const child = this.#child;
    this.#child = undefined;
    child?.kill("SIGKILL");
  }
}
