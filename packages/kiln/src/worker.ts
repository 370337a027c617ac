/**
 * `kiln-ml/worker`: compiling and training off the page's thread. The page calls `openWorker`, the
 * worker's script `serveTasks`. Neither half loads the compiler by itself.
 */

export type { CompileStage } from "./devices/settings.ts";
export type { WorkerLike } from "./open/channel.ts";
export {
  type CallOptions,
  type OpenWorkerOptions,
  openWorker,
  type TaskWorker,
} from "./worker/open-worker.ts";
export {
  type AnyTasks,
  type Port,
  serveTasks,
  type TaskContext,
} from "./worker/serve-tasks.ts";
