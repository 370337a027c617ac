/**
 * Work off the page's thread, seen from the worker: functions by name, run as the page asks for
 * them.
 */
import { GraphError } from "@kiln-ml/artifact";
import { type CompileStage, settings } from "../devices/settings.ts";
import { answering } from "../open/answering.ts";
import type { Reply } from "../open/channel.ts";

/** What a task has beside its input. */
export interface TaskContext {
  /** Tells the page how far it is; what is told goes as a message. */
  report(value: unknown): void;
  /** Aborted when the page no longer wants the result; a loop asks it between steps. */
  readonly signal: AbortSignal;
}

/** Tasks by name: functions of one value that goes as a message, to another. */
export type AnyTasks = Readonly<Record<string, (input: never, context: TaskContext) => unknown>>;

/** What is told on the way to a result. */
export interface Told {
  readonly report?: unknown;
  readonly compiled?: CompileStage;
}

interface TaskRequest {
  readonly id: number;
  readonly call: "task";
  readonly task: string;
  readonly input: unknown;
  readonly tellsStages: boolean;
}

/** Where messages come from: the worker itself in a page, `parentPort` in Node. */
export interface Port {
  postMessage(message: unknown): void;
  addEventListener?(name: "message", listener: (event: never) => void): void;
  on?(name: "message", listener: (message: never) => void): unknown;
}

/**
 * Serves tasks to the page that opened this worker with `openWorker`.
 *
 *   serveTasks({
 *     async train({ epochs }, { report, signal }) {
 *       const step = compile(train);
 *       for (let i = 0; i < epochs && !signal.aborted; i++)
 *         report({ loss: await (await step(x, y)).item() });
 *       return stateBytes(net);
 *     },
 *   });
 *
 * In Node, pass `parentPort` of `node:worker_threads`. Throws GraphError where there is no page.
 */
export function serveTasks<T extends AnyTasks>(
  tasks: T,
  port: Port = globalThis as unknown as Port,
): T {
  const post: Post = (reply) => port.postMessage(reply);
  const take = answering<TaskRequest>(
    (request, signal) => answer(tasks, request, signal, post),
    post,
  );
  if (typeof port?.postMessage !== "function" || !(port.on ?? port.addEventListener))
    throw new GraphError(
      "serveTasks: this is no worker\n  call it in a worker's script; in Node, pass parentPort of node:worker_threads",
    );
  if (port.on) port.on("message", take as never);
  else port.addEventListener?.("message", ((event: MessageEvent) => take(event.data)) as never);
  return tasks;
}

type Post = (reply: Reply<Told>) => void;

async function answer(
  tasks: AnyTasks,
  { id, task, input, tellsStages }: TaskRequest,
  signal: AbortSignal,
  post: Post,
): Promise<void> {
  const tell = (progress: Told): void => post({ id, progress });
  const compiling = (compiled: CompileStage): void => tell({ compiled });
  if (tellsStages) settings.compiling = compiling;
  try {
    const run = Object.hasOwn(tasks, task) ? tasks[task] : undefined;
    if (typeof run !== "function")
      throw new GraphError(
        `call: the worker has no task ${task}\n  its tasks are ${Object.keys(tasks).join(", ")}`,
      );
    const report = (told: unknown): void => sent(task, told, () => tell({ report: told }));
    const value = await run(input as never, { report, signal });
    sent(task, value, () => post({ id, value }));
  } finally {
    if (settings.compiling === compiling) delete settings.compiling;
  }
}

/**
 * Throws GraphError for what is no message, tensors above all: a copy of one would have no values.
 */
function sent(task: string, value: unknown, post: () => void): void {
  let why = holdsTensor(value) ? "it holds a tensor" : undefined;
  try {
    if (!why) post();
  } catch (error) {
    why = (error as Error).message;
  }
  if (why)
    throw new GraphError(
      `call: what ${task} gives cannot go as a message: ${why}\n  give numbers and typed arrays: await tensor.data()`,
    );
}

function holdsTensor(value: unknown): boolean {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return false;
  const { data, shape } = value as { data?: unknown; shape?: unknown };
  if (typeof data === "function" && Array.isArray(shape)) return true;
  const plain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
  return plain && Object.values(value).some(holdsTensor);
}
