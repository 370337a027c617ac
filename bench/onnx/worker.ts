/**
 * A process that judges cases on one engine, one at a time as it is asked. Started by `pool.ts`, which also ends it when a
 * case takes too long. A rejection that nobody awaited counts against the case it came up in.
 */
import { casesOf } from "./cases.ts";
import { type EngineName, type Face, openEngine } from "./engine.ts";
import { openFiles } from "./files.ts";
import { failure, judge, type Verdict } from "./judge.ts";

export type Reply =
  | { readonly ready: true }
  | { readonly name: string; readonly verdict: Verdict; readonly bytes: number };

const [, , engineName, data, face] = process.argv;
const files = openFiles(data!)!;
const cases = new Map(casesOf(files).map((c) => [c.name, c]));
const engine = await openEngine(engineName as EngineName, face as Face | undefined);
let stray: unknown;

const say = (reply: Reply): void => {
  process.send!(reply);
};

process.on("unhandledRejection", (error) => {
  stray ??= error;
});
process.on("uncaughtException", (error) => {
  stray ??= error;
});
process.on("message", async (name: string) => {
  stray = undefined;
  let verdict = await judge(cases.get(name)!, files, engine);
  // Rejections are told of once all that is queued has run.
  await new Promise(setImmediate);
  if (stray !== undefined && verdict.passed) verdict = failure(stray, verdict.ms);
  say({ name, verdict, bytes: process.memoryUsage().rss });
});
say({ ready: true });
