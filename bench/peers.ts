/**
 * Kiln against TensorFlow.js on its plain CPU backend: both on one thread of one process, taking turns, fed with the
 * same shapes. What TensorFlow.js would take minutes for is measured on a smaller batch and scaled, and its row says so.
 */

import type { Program } from "../compiler/src/program.ts";
import { chain, cnnStep, matmul, mlpStep } from "./cases.ts";
import { interleave, type Timing, timed, worse } from "./measure.ts";
import { bounded, compared, type Row } from "./row.ts";
import { open } from "./session.ts";
import { tfChain, tfCnnStep, tfMatmul, tfMlpStep } from "./tensorflow.ts";

const peer = "tfjs-cpu";

async function pairRow(
  name: string,
  program: Program,
  theirs: () => unknown,
  least?: number,
): Promise<Row> {
  const ours = await open(program);
  const [a, b] = (await interleave([ours.run, theirs], { warmups: 2, budgetMs: 4000 })) as [
    Timing,
    Timing,
  ];
  ours.dispose();
  const row = { case: name, target: "js", metric: "time", value: a.median, unit: "ms" };
  return compared({ ...row, peer, peerValue: b.median, spread: worse(a, b) }, least);
}

/** The peer's step is measured once on `part` of the batch of 64; its work is the same for every sample. */
async function cnnRow(part: number): Promise<Row> {
  const ours = await open(cnnStep(64));
  const theirs = tfCnnStep(part);
  const [a] = (await interleave([ours.run], { warmups: 1, budgetMs: 0 })) as [Timing];
  theirs();
  const once = await timed(theirs);
  ours.dispose();
  const row = { case: "cnn step 64", target: "js", metric: "time", unit: "ms", spread: a.spread };
  const peerValue = (once * 64) / part;
  const note = part === 64 ? "tfjs once" : `tfjs once on batch ${part}, scaled by ${64 / part}`;
  const bound = bounded({ ...row, value: a.median, peer, peerValue, note }, 4000);
  return { ...bound, ratio: peerValue / a.median };
}

export async function peerRows(selected: (name: string) => boolean, slow: boolean): Promise<Row[]> {
  const list: readonly [string, () => Promise<Row>][] = [
    ["matmul 512", () => pairRow("matmul 512", matmul(512), tfMatmul(512), 4)],
    ["mlp step 256", () => pairRow("mlp step 256", mlpStep(), tfMlpStep(256), 3)],
    ["cnn step 64", () => cnnRow(slow ? 64 : 2)],
    ["chain 4M", () => pairRow("chain 4M", chain(1 << 22), tfChain(1 << 22))],
  ];
  const rows: Row[] = [];
  for (const [name, measure] of list) if (selected(name)) rows.push(await measure());
  return rows;
}
