/**
 * What is known of each case before anything runs: the ops in its model, and why it is left out, if it is.
 */
import { readModel } from "../../packages/onnx/src/proto/read.ts";
import type { Case } from "./cases.ts";
import { type Census, censusOf, exclusionOf, targetExclusion } from "./census.ts";
import type { Files } from "./files.ts";
import { inputsOf } from "./judge.ts";

export interface Surveyed {
  readonly case: Case;
  readonly ops: readonly string[];
  /** Nodes of the model, those of subgraphs and functions included. */
  readonly nodes: number;
  /** Why no target runs it. */
  readonly excluded?: string;
  /** Why a target does not run it although others do. */
  readonly excludedOn: (target: string) => string | undefined;
}

const none = (): undefined => undefined;

function inputsIfReadable(...of: Parameters<typeof inputsOf>): ReturnType<typeof inputsOf> {
  try {
    return inputsOf(...of);
  } catch {
    // The targets will say what is wrong with the file.
    return {};
  }
}

function surveyCase(c: Case, files: Files): Surveyed {
  let census: Census;
  let excluded: string | undefined;
  try {
    const bytes = files.read(c.model)!;
    const model = readModel(bytes, {
      file: c.model,
      external: (location) => files.read(`${c.folder}/${location}`),
    });
    census = censusOf(model);
    const inputs = c.sets[0] && !c.made ? inputsIfReadable(c, c.sets[0], model, files) : {};
    excluded = exclusionOf(model, census, inputs);
  } catch {
    return { case: c, ops: [], nodes: 0, excludedOn: none };
  }
  const excludedOn = (target: string) => excluded ?? targetExclusion(census, target);
  const nodes = [...census.ops.values()].reduce((a, b) => a + b, 0);
  return {
    case: c,
    ops: [...census.ops.keys()],
    nodes,
    ...(excluded ? { excluded } : {}),
    excludedOn,
  };
}

export const survey = (cases: readonly Case[], files: Files): Surveyed[] =>
  cases.map((c) => surveyCase(c, files));
