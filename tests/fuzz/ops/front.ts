/**
 * `npm run fuzz -- --ops [--count N] [--seed S] [--only OP] [--target TARGET]`: random models of
 * one node on our targets and on ONNX Runtime. Prints each kind of disagreement once, with how to
 * run it again; the command fails where results differ or only the runtime takes a model.
 */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { TargetName } from "../../../packages/kiln/src/index.ts";
import { samplers } from "./samplers.ts";
import type { Job, Outcome, Reply } from "./worker.ts";

const script = fileURLToPath(new URL("./worker.ts", import.meta.url));

/** A sample that takes this long hangs, on a machine that is busy too: the first one waits for the process to start. */
const hangMs = 120_000;

/** Hands over replies until all are there or the process ends; gives the index of the sample that ended it. */
function runFrom(job: Job, take: (reply: Reply) => void): Promise<number | undefined> {
  const child: ChildProcess = fork(script, [], {
    execArgv: ["--conditions=@kiln-ml/source", "--import", "tsx"],
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  return new Promise((resolve) => {
    let [next, since] = [job.first, Date.now()];
    const watch = setInterval(() => {
      if (Date.now() - since > hangMs) child.kill("SIGKILL");
    }, 1000);
    child.on("message", (reply: Reply) => {
      [next, since] = [reply.index + 1, Date.now()];
      take(reply);
    });
    child.on("exit", () => {
      clearInterval(watch);
      resolve(next < job.first + job.count ? next : undefined);
    });
    child.send(job);
  });
}

export interface OpsOptions {
  readonly seed: number;
  readonly count: number;
  readonly only: readonly string[] | undefined;
  readonly first: number;
  /** Print what only we take, too. */
  readonly lenient: boolean;
  /** Where samples run; js and wasm by turns by default. */
  readonly target?: TargetName | undefined;
}

const faults: readonly Outcome[] = ["differs", "stricter"];

const kindOf = (r: Reply): string =>
  `${r.op} ${r.outcome} ${r.what.replace(/-?\d+(\.\d+)?(e[+-]?\d+)?|NaN|-?Infinity/g, "N").replace(/\[[^\]]*\]/g, "[]")}`.slice(
    0,
    160,
  );

/** True if nothing disagrees. Throws RangeError for an op that is not there. */
export async function fuzzOps(
  options: OpsOptions,
  say: (line: string) => void = console.log,
): Promise<boolean> {
  const { seed, count, only, first, lenient, target } = options;
  const ops = only ?? Object.keys(samplers);
  const unknown = ops.find((op) => !samplers[op]);
  if (unknown) throw new RangeError(`fuzz: no samples of ${unknown}`);
  const counts = new Map<Outcome | "ended", number>();
  const kinds = new Map<string, { reply: Reply; times: number }>();
  const take = (reply: Reply): void => {
    counts.set(reply.outcome, (counts.get(reply.outcome) ?? 0) + 1);
    if (!faults.includes(reply.outcome) && !(lenient && reply.outcome !== "same")) return;
    const kind = kindOf(reply);
    const before = kinds.get(kind);
    if (before) before.times++;
    else kinds.set(kind, { reply, times: 1 });
  };
  say(`seed ${seed}, ${ops.length} ops`);
  for (let at: number | undefined = first; at !== undefined && at < first + count; ) {
    at = await runFrom({ seed, ops, first: at, count: first + count - at, target }, take);
    if (at === undefined) break;
    counts.set("ended", (counts.get("ended") ?? 0) + 1);
    say(`${ops[at % ops.length]}: sample ${at} ended the process`);
    at++;
  }
  const found = [...kinds.values()].sort((a, b) => a.reply.op.localeCompare(b.reply.op));
  for (const { reply, times } of found) {
    const chosen = `${only ? ` --only ${only}` : ""}${target ? ` --target ${target}` : ""}`;
    const again = `--ops --seed ${seed}${chosen} --first ${reply.index} --count 1`;
    say(
      `\n${reply.op}: ${reply.outcome} (×${times}): ${reply.what}\n  ${reply.text}\n  npm run fuzz -- ${again}`,
    );
  }
  say(`\n${[...counts].map(([k, n]) => `${k} ${n}`).join(", ")}`);
  return faults.every((f) => !counts.get(f));
}
