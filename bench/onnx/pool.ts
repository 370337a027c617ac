/**
 * Has one engine judge many cases in a process of its own, and starts another when that one dies, hangs or grows. Whatever a
 * case does, the rest are judged.
 */
import { type ChildProcess, fork } from "node:child_process";
import { adapterEnvironment } from "./adapter.ts";
import { bundleProcess } from "./bundle.ts";
import type { EngineName, Face } from "./engine.ts";
import type { Verdict } from "./judge.ts";
import type { Reply } from "./worker.ts";

export interface PoolOptions {
  readonly data: string;
  /** The interface through which our targets are asked; their own by default. */
  readonly face?: Face | undefined;
  /** Milliseconds that a case may take. */
  readonly limitOf: (name: string) => number;
  readonly progress: (name: string, verdict: Verdict) => void;
}

const startMs = 60_000;
const mostBytes = 3e9;
const keptText = 2000;

interface Start {
  readonly bundle: string;
  readonly engine: EngineName;
  readonly data: string;
  readonly face: Face | undefined;
  readonly env: NodeJS.ProcessEnv;
}

class Worker {
  #child: ChildProcess;
  #errors = "";
  #settle: ((reply: Reply | string) => void) | undefined;

  constructor({ bundle, engine, data, face, env }: Start) {
    this.#child = fork(bundle, [engine, data, ...(face ? [face] : [])], {
      execArgv: ["--enable-source-maps"],
      env: { ...process.env, ...env },
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    this.#child.stderr!.on("data", (chunk) => {
      this.#errors = (this.#errors + chunk).slice(-keptText);
    });
    this.#child.on("message", (reply: Reply) => this.#settle?.(reply));
    this.#child.on("exit", (code, signal) => this.#settle?.(`process ended (${signal ?? code})`));
  }

  /** The last lines it wrote to its error stream. */
  get errors(): string {
    return this.#errors.trim();
  }

  /** The next reply, or what happened instead. */
  reply(limitMs: number): Promise<Reply | string> {
    return new Promise((resolve) => {
      const timer = setTimeout(
        () => this.#settle?.(`no result within ${limitMs / 1000} s`),
        limitMs,
      );
      this.#settle = (reply) => {
        clearTimeout(timer);
        this.#settle = undefined;
        resolve(reply);
      };
    });
  }

  ask(name: string, limitMs: number): Promise<Reply | string> {
    const reply = this.reply(limitMs);
    this.#child.send(name);
    return reply;
  }

  end(): void {
    this.#settle = undefined;
    this.#child.kill("SIGKILL");
  }
}

async function startWorker(start: Start): Promise<Worker> {
  const worker = new Worker(start);
  const reply = await worker.reply(startMs);
  if (typeof reply !== "string") return worker;
  worker.end();
  throw new Error(`conformance: ${start.engine} does not start: ${reply}\n${worker.errors}`);
}

/** Verdicts by case. Rejects if the engine cannot run here at all. */
export async function judgeAll(
  engine: EngineName,
  names: readonly string[],
  { data, face, limitOf, progress }: PoolOptions,
): Promise<Map<string, Verdict>> {
  const verdicts = new Map<string, Verdict>();
  const start: Start = {
    bundle: await bundleProcess("bench/onnx/worker.ts"),
    engine,
    data,
    face,
    env: engine === "webgpu" ? await adapterEnvironment() : {},
  };
  let worker: Worker | undefined;
  for (const name of names) {
    worker ??= await startWorker(start);
    const limitMs = limitOf(name);
    const reply = await worker.ask(name, limitMs);
    let verdict: Verdict;
    if (typeof reply === "string") {
      verdict = { passed: false, ms: limitMs, kind: reply, detail: `${reply}\n${worker.errors}` };
    } else if ("verdict" in reply) verdict = reply.verdict;
    else continue;
    verdicts.set(name, verdict);
    progress(name, verdict);
    if (typeof reply === "string" || ("bytes" in reply && reply.bytes > mostBytes)) {
      worker.end();
      worker = undefined;
    }
  }
  worker?.end();
  return verdicts;
}
