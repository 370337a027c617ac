/**
 * An artifact of the native target as C that depends on nothing: a program, its header, weights and
 * a Makefile. Runs no compiler. docs/decisions/native-target.md
 */
import { type Artifact, ArtifactError, type Extent, evaluateExtent } from "@kiln-ml/artifact";
import { nominalDims } from "../../devices/placement.ts";
import { identifier } from "./c-text.ts";
import { interfaceText } from "./interface-text.ts";
import { makeText } from "./make-text.ts";
import { bytesOf } from "./plan-text.ts";
import { programText } from "./program-text.ts";
import { keptOf, weightsFile } from "./weights.ts";

export interface StandaloneOptions {
  /** What files, functions and libraries are called. */
  readonly name: string;
  /** Elements of 32 bits in the vectors that the artifact was compiled for. */
  readonly lanes: number;
  /** Whether the weights are part of the program. */
  readonly embed?: boolean;
}

export interface Standalone {
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** What its names begin with. */
  readonly prefix: string;
  /** Of one thread's run, with symbols at their nominal extents. */
  readonly runBytes: number;
}

/** Throws ArtifactError for an artifact of another target, or one without weights. */
export function standaloneOf(artifact: Artifact, options: StandaloneOptions): Standalone {
  const { name, lanes, embed = false } = options;
  if (artifact.target !== "native")
    throw new ArtifactError(
      `standalone: the artifact is for ${artifact.target}, whose kernels are no C\n  compile it for native`,
    );
  const prefix = identifier(name);
  const kept = keptOf(artifact);
  const text = (lines: string): Uint8Array => new TextEncoder().encode(lines);
  const files = new Map([
    [`${prefix}.c`, text(programText(artifact, kept, { prefix, lanes, embed }))],
    [`${prefix}.h`, text(interfaceText(artifact, prefix))],
    ["Makefile", text(makeText(prefix))],
  ]);
  if (!embed) files.set(`${prefix}.weights`, weightsFile(kept));
  return { files, prefix, runBytes: runBytes(artifact, kept.end) };
}

function runBytes(artifact: Artifact, kept: number): number {
  const dims = nominalDims(artifact);
  const { signature, plan } = artifact;
  const value = (e: Extent): number => Math.max(0, evaluateExtent(e, dims));
  const places = [...signature.inputs, ...signature.outputs].map(bytesOf);
  const slots = plan.slots.map(({ sizes }) => Math.max(0, ...sizes.map(value)));
  return [...places.map(value), ...slots].reduce((n, size) => n + size, kept);
}
