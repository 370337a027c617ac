/**
 * A process of one engine, asked one thing at a time. One that takes too long or dies answers with
 * an error, and so it does from then on.
 */
import { type ChildProcess, fork } from "node:child_process";
import { relaxedFlag } from "../cpu/columns.ts";
import { bundleProcess } from "./bundle.ts";
import type { EngineName, Face } from "./engine.ts";
import type { Answer, Question } from "./network-protocol.ts";

/** How an engine is asked: through an interface of others, on so many threads. */
export interface Manner {
  readonly face?: Face;
  readonly threads?: number;
}

const startMs = 60_000;

export class NetworkPeer {
  readonly #child: ChildProcess;
  #settle: ((answer: Answer) => void) | undefined;
  #ended: string | undefined;
  #errors = "";

  private constructor(bundle: string, args: readonly string[], env: NodeJS.ProcessEnv) {
    this.#child = fork(bundle, args, {
      execArgv: [...relaxedFlag, "--enable-source-maps"],
      env: { ...process.env, ...env },
      serialization: "advanced",
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    this.#child.stderr!.on("data", (text) => {
      this.#errors = (this.#errors + text).slice(-1000);
    });
    this.#child.on("message", (answer: Answer) => this.#settle?.(answer));
    this.#child.on("exit", (code, signal) => {
      this.#fail(`process ended (${signal ?? code})${this.#errors ? `: ${this.#errors}` : ""}`);
    });
  }

  static async start(engine: EngineName, { face, threads = 1 }: Manner = {}): Promise<NetworkPeer> {
    const bundle = await bundleProcess("bench/onnx/network-worker.ts");
    return NetworkPeer.of(bundle, [engine, `${threads}`, ...(face ? [face] : [])]);
  }

  /** A process of another script that speaks the same protocol. */
  static async of(
    script: string,
    args: readonly string[],
    env: NodeJS.ProcessEnv = {},
  ): Promise<NetworkPeer> {
    const peer = new NetworkPeer(script, args, env);
    await peer.#next(startMs);
    return peer;
  }

  #fail(error: string): void {
    this.#ended ??= error;
    this.#settle?.({ error: this.#ended });
  }

  #next(limitMs: number): Promise<Answer> {
    if (this.#ended !== undefined) return Promise.resolve({ error: this.#ended });
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#fail(`no answer within ${limitMs / 1000} s`);
        this.#child.kill("SIGKILL");
      }, limitMs);
      this.#settle = (answer) => {
        clearTimeout(timer);
        this.#settle = undefined;
        resolve(answer);
      };
    });
  }

  /** False once it can answer nothing more. */
  get alive(): boolean {
    return this.#ended === undefined;
  }

  ask(question: Question, limitMs: number): Promise<Answer> {
    const answer = this.#next(limitMs);
    if (this.alive) this.#child.send(question);
    return answer;
  }

  end(): void {
    this.#ended ??= "ended";
    this.#child.kill("SIGKILL");
  }
}
