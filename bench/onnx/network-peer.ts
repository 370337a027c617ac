/**
 * A process of one engine, asked one thing at a time. One that takes too long or dies answers with an error, and so it does
 * from then on.
 */
import { type ChildProcess, fork } from "node:child_process";
import { relaxedFlag } from "../cpu/columns.ts";
import { bundleProcess } from "./bundle.ts";
import type { EngineName } from "./engine.ts";
import type { Answer, Question } from "./network-protocol.ts";

export class NetworkPeer {
  readonly engine: EngineName;
  readonly #child: ChildProcess;
  #settle: ((answer: Answer) => void) | undefined;
  #ended: string | undefined;
  #errors = "";

  private constructor(engine: EngineName, bundle: string) {
    this.engine = engine;
    this.#child = fork(bundle, [engine], {
      execArgv: [...relaxedFlag, "--enable-source-maps"],
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

  static async start(engine: EngineName, limitMs = 60_000): Promise<NetworkPeer> {
    const peer = new NetworkPeer(engine, await bundleProcess("bench/onnx/network-worker.ts"));
    await peer.#next(limitMs);
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
