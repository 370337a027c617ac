/**
 * Packing of what lies in words of few bits, or has scales by blocks: 32 steps of depth at a time,
 * after which no index divides, shifts are by numbers, and a word is loaded once for all of its
 * fields and a scale once for the chunk. Lanes are lines, as wherever a panel is packed.
 *
 * Why: one element at a time divides for the word, the field and the scale, and loads each anew;
 * that took a third of the time of a product of 64 rows.
 */
import { addDim, type Dim, floorDiv, modDim, mulDim, subDim, symbolsIn } from "@kiln-ml/ir";
import { type Loop, makeLoop } from "../../fuse/group.ts";
import type { Stmt } from "../../kernel/kernel.ts";
import type { Rename } from "../../kernel/map.ts";
import { type LoweringContext, openBlock } from "../../lower/context.ts";
import { nest } from "../../lower/loops.ts";
import { isAffine } from "./affine.ts";
import { chunk, range, sharedLoads } from "./in-blocks.ts";
import type { Lines, Run } from "./lines.ts";
import { divisorsOf, folded } from "./steps.ts";

interface Chunks {
  readonly context: LoweringContext;
  readonly lines: Lines;
  readonly run: Run;
  /** All of depth. */
  readonly total: Dim;
  /** The lines of each vector, and where the element of a step goes. */
  readonly vectors: readonly { readonly line: Dim; at(step: Dim): Dim }[];
  readonly to: string;
  readonly lane: Loop;
}

/** Undefined unless a chunk has far fewer loads than elements. */
export function packChunks(c: Chunks): Stmt[] | undefined {
  const { run, total, lane } = c;
  const [step, ...others] = run.loops;
  const [[name, place] = ["", 0 as Dim], ...more] = [...run.rename];
  if (!step || others.length > 0 || more.length > 0) return undefined;
  if (modDim(total, chunk) !== 0) return undefined;
  const from = subDim(place, step.at);
  if (symbolsIn(from).has(step.name)) return undefined;
  if (!isDivided(c, step)) return undefined;
  const t = makeLoop("chunk", floorDiv(step.extent, chunk));
  // Where depth is cut is a multiple of the chunk, which its expression does not show.
  const whole = makeLoop("chunkAt", floorDiv(total, chunk));
  const at = (k: number): Rename => new Map([[name, addDim(mulDim(whole.at, chunk), k)]]);
  const found = c.vectors.map((v, i) => storesOf(c, v, `packed${i}At`, at, mulDim(t.at, chunk)));
  if (found.some((f) => f === undefined)) return undefined;
  const stores = found.flatMap((f) => f!);
  if (!isAffine(stores, lane.name)) return undefined;
  const body: Stmt[] = [
    ...(whole.at === 0
      ? []
      : [
          {
            kind: "letIndex",
            name: whole.name,
            value: addDim(floorDiv(from, chunk), t.at),
          } as const,
        ]),
    ...stores,
  ];
  return nest([lane], "vector", nest([t], "serial", body));
}

/** Whether an index of the element divides what depends on depth. */
function isDivided({ context, lines, run, vectors: [first] }: Chunks, step: Loop): boolean {
  const block = openBlock(context);
  const value = lines.value(block, new Map([...lines.at(first!.line), ...run.rename]));
  return block.body.length === 0 && divisorsOf(value, step.name).size > 0;
}

/** The elements of a chunk of a vector of lines, the fields of a word one after the other. */
function storesOf(
  { context, lines, to }: Chunks,
  v: Chunks["vectors"][number],
  prefix: string,
  at: (k: number) => Rename,
  first: Dim,
): Stmt[] | undefined {
  const { shared, take } = sharedLoads(prefix);
  const fields = range(4).flatMap((j) => range(chunk / 4).map((u) => 4 * u + j));
  let loads = 0;
  const stores: Stmt[] = [];
  for (const k of fields) {
    const block = openBlock(context);
    const value = lines.value(block, new Map([...lines.at(v.line), ...at(k)]));
    if (block.body.length > 0) return undefined;
    const own = shared(folded(value));
    const lets = take();
    loads += lets.length;
    stores.push(...lets, { kind: "store", to, index: v.at(addDim(first, k)), value: own });
  }
  return loads <= chunk / 2 ? stores : undefined;
}
