/**
 * The process that runs samples: each on ONNX Runtime and on one of our targets. It may be killed
 * by what the runtime does to it; the process that started it then goes on behind the sample.
 */
import { setThreads, type TargetName } from "../../../packages/kiln/src/index.ts";
import { loadOnnx } from "../../../packages/kiln/src/onnx.ts";
import { seeded } from "../../support/mutate.ts";
import { type OnnxRuntime, onnxRuntime } from "../../support/onnxruntime.ts";
import { difference, type Result } from "./compare.ts";
import { direct } from "./direct.ts";
import { Draw } from "./draw.ts";
import { type Given, modelOf, type Sample } from "./sample.ts";
import { samplers } from "./samplers.ts";

export interface Job {
  readonly seed: number;
  readonly ops: readonly string[];
  readonly first: number;
  readonly count: number;
  /** Where samples run; undefined for js and wasm by turns. */
  readonly target: TargetName | undefined;
}

/**
 * `same`, `both refuse`; `absent`: the runtime lacks the op or the type; `lenient`: only we take
 * it; `stricter`: only the runtime takes it; `differs`.
 */
export type Outcome = "same" | "both refuse" | "absent" | "lenient" | "stricter" | "differs";

export interface Reply {
  readonly index: number;
  readonly op: string;
  readonly outcome: Outcome;
  readonly what: string;
  readonly text: string;
}

const mix = (seed: number, index: number): number =>
  (Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) + Math.imul(index + 1, 0xc2b2ae35)) >>> 0;

type Run = { readonly results: Record<string, Result> } | { readonly error: Error };

async function attempt(run: () => Promise<Record<string, Result>>): Promise<Run> {
  try {
    return { results: await run() };
  } catch (error) {
    return { error: error as Error };
  }
}

async function onRuntime(ort: OnnxRuntime, given: Given): Promise<Record<string, Result>> {
  const session = await ort.InferenceSession.create(given.bytes, {
    logSeverityLevel: 4,
    graphOptimizationLevel: "disabled",
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
  });
  try {
    const feeds = Object.entries(given.feeds).map(
      ([name, { type, data, dims }]) => [name, new ort.Tensor(type, data, dims)] as const,
    );
    const results = await session.run(Object.fromEntries(feeds));
    return results as unknown as Record<string, Result>;
  } finally {
    await session.release();
  }
}

const onOurs = async (target: TargetName, given: Given): Promise<Record<string, Result>> =>
  (await loadOnnx(given.bytes, { target }).run(given.feeds)) as Record<string, Result>;

/** What the runtime says where it has no kernel, as opposed to a model that is wrong. */
const lacks =
  /NOT_IMPLEMENTED|Could not find an implementation|not implemented|is not supported|Unsupported|under development|only guarantees support|No Op registered|is not a registered|unsupported/i;

const own = /^(Shape|Dtype|Graph|Artifact)Error$/;

function judge(
  op: string,
  given: Given,
  sample: Sample,
  theirs: Run,
  ours: Run,
): [Outcome, string] {
  if ("error" in theirs) {
    const told = theirs.error.message.split("\n")[0]!;
    if ("error" in ours && !own.test(ours.error.name))
      return ["differs", `${ours.error.stack?.split("\n").slice(0, 4).join(" | ")}`];
    const want = "error" in ours ? undefined : direct(op, sample);
    if (want && "results" in ours) {
      const found = difference("y0", ours.results.y0!, want, sample);
      return found ? ["differs", `directly: ${found}`] : ["same", ""];
    }
    if (lacks.test(theirs.error.message)) return ["absent", told];
    return "error" in ours
      ? ["both refuse", `${ours.error.message.split("\n")[0]} // ${told}`]
      : ["lenient", told];
  }
  if ("error" in ours) {
    const { error } = ours;
    const where = own.test(error.name) ? "" : error.stack?.split("\n").slice(1, 4).join(" | ");
    return ["stricter", `${error.name}: ${error.message.split("\n")[0]} ${where}`];
  }
  for (const name of given.outputs) {
    const [got, want] = [ours.results[name], theirs.results[name]];
    if (!want) continue;
    if (!got) return ["differs", `${name} is missing`];
    const found = difference(name, got, want, sample);
    if (found) return ["differs", found];
  }
  return ["same", ""];
}

async function main({ seed, ops, first, count, target: asked }: Job): Promise<void> {
  const ort = onnxRuntime()!;
  setThreads(1);
  for (let index = first; index < first + count; index++) {
    const op = ops[index % ops.length]!;
    const d = new Draw(seeded(mix(seed, index)));
    // Drawn in any case: a sample is the same on every target.
    const drawn = d.chance(0.6) ? "js" : "wasm";
    const target = asked ?? drawn;
    const sample = samplers[op]!(d);
    const given = modelOf(op.replace(/^.*\./, ""), sample, d);
    const theirs = await attempt(() => onRuntime(ort, given));
    const ours = await attempt(() => onOurs(target, given));
    const [outcome, what] = judge(op, given, sample, theirs, ours);
    process.send!({ index, op, outcome, what, text: `${target}: ${given.text}` } satisfies Reply);
  }
}

process.once("message", (job: Job) => {
  void main(job).then(() => process.disconnect());
});
