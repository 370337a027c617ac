/**
 * Lowers an argSort on a GPU: one workgroup a line, which sorts keys and their positions by a
 * bitonic network, in workgroup memory where a line fits and else in scratch memory. The network's
 * first step of a merge compares mirrored elements, so that all comparisons put the greater one
 * behind and elements past the end need not exist (Batcher 1968). One long line is sorted by one
 * workgroup, which leaves most of the device idle: barriers reach no further than a workgroup.
 */
import { addDim, anyInteger, type Dim, maxOfDim, mulDim, subDim } from "@kiln-ml/ir";
import { makeLoop } from "../../fuse/group.ts";
import { isBelow } from "../../kernel/conditions.ts";
import { call, constant, load, ref } from "../../kernel/expr.ts";
import type { Expr, Stmt } from "../../kernel/kernel.ts";
import { indexName } from "../../kernel/names.ts";
import { type LoweringContext, openBlock } from "../../lower/context.ts";
import { decode, nest, totalOf } from "../../lower/loops.ts";
import type { Scheduled } from "../../lower/lower.ts";
import { fromIndex } from "../../lower/value.ts";
import { guaranteed } from "../../machine/webgpu.ts";
import { coordsAt, finished, risingKey, sortParts } from "../sort.ts";
import { groupSize } from "./gpu.ts";

/** Two arrays of so many words fit the workgroup memory that every device has. */
const sharedWords = guaranteed.maxComputeWorkgroupStorageSize / 8;
/** Lines of no known bound: as many keys as a binding holds. */
const mostStages = Math.log2(guaranteed.maxStorageBufferBindingSize / 4);

/** Where keys and places of the line at hand lie. */
interface Line {
  readonly keys: string;
  readonly places: string;
  readonly start: Dim;
  readonly size: Dim;
}

export function gpuSort(context: LoweringContext): Scheduled {
  const p = sortParts(context);
  const size = p.x.shape[p.axis]!;
  const most = maxOfDim(size);
  const line = makeLoop("line", totalOf(p.lines));
  const shared = most <= sharedWords;
  const scratch = (name: string): string =>
    context.buffers.scratch(name, "i32", mulDim(totalOf(p.lines), size));
  const at: Line = shared
    ? { keys: "keys", places: "places", start: 0, size }
    : {
        keys: scratch("keys"),
        places: scratch("places"),
        start: mulDim(line.at, size),
        size,
      };
  const array = (name: string): Stmt => ({
    kind: "array",
    name,
    dtype: "i32",
    size: Math.max(1, most),
    space: "shared",
  });
  const from = makeLoop("k", size);
  const fill = openBlock(context);
  const rising = risingKey(fill.at(p.x, coordsAt(p, from.at)));
  const key = p.descending ? call("bitwiseNot", "i32", rising) : rising;
  const here = addDim(at.start, from.at);
  fill.body.push({ kind: "store", to: at.keys, index: here, value: key });
  fill.body.push({ kind: "store", to: at.places, index: here, value: fromIndex(from.at, "i32") });
  const place = load(at.places, "i32", addDim(at.start, p.places.at));
  const stages = most === Infinity ? mostStages : Math.ceil(Math.log2(Math.max(1, most)));
  const body = [
    ...(shared ? [array(at.keys), array(at.places)] : []),
    ...decode(p.lines, line.at),
    ...nest([from], "local", fill.body),
    { kind: "barrier" } as const,
    ...network(at, stages),
    ...nest([p.places], "local", finished(context, p, place)),
  ];
  return { body: nest([line], "workgroup", body), workgroupSize: groupSize };
}

const i32 = (op: string, ...args: Expr[]): Expr => call(op, "i32", ...args);

/**
 * Stages of merges of runs of 2ᵃ; each takes a + 1 steps, the distance of the compared elements
 * halved from one to the next.
 */
function network(line: Line, stages: number): Stmt[] {
  const [a, s] = [makeLoop("a", stages), makeLoop("s", stages)];
  const step = { ...s, extent: addDim(a.at, 1) };
  // Each pair of a step is two elements that exist, so that the pairs are less than half the
  // elements.
  const pair = makeLoop("t", line.size);
  const one = constant("i32", 1);
  const body: Stmt[] = [
    { kind: "let", name: "far", value: i32("shiftLeft", one, index(subDim(a.at, s.at))) },
    { kind: "let", name: "below", value: i32("sub", ref("far", "i32"), one) },
    ...nest([pair], "local", exchange(line, index(pair.at), s.at)),
    { kind: "barrier" },
  ];
  return nest([a], "serial", nest([step], "serial", body));
}

const index = (value: Dim): Expr => fromIndex(value, "i32");

/** Compares elements of one pair and puts the one that comes first where it belongs. */
function exchange({ keys, places, start, size }: Line, pair: Expr, step: Dim): Stmt[] {
  const [far, below] = [ref("far", "i32"), ref("below", "i32")];
  const [low, high] = [indexName("low"), indexName("high")];
  const one = constant("i32", 1);
  const within = i32("and", pair, below);
  const base = i32("shiftLeft", i32("sub", pair, within), one);
  const first: Expr = { kind: "test", conditions: [{ value: step, test: "zero" }], dtype: "bool" };
  const mirrored = i32("select", first, i32("sub", below, within), within);
  // The higher place as the lower one and what is between: that low ≤ high is plain to see, and what
  // is inside for the one is so for the other.
  const gap = i32("select", first, i32("add", i32("add", within, within), one), far);
  const [i, j] = [anyInteger(low, 0, 2 ** 30), anyInteger(high, 0, 2 ** 30)];
  const loaded = (name: string, at: Dim): Expr => load(name, "i32", addDim(start, at));
  const [ki, kj] = [loaded(keys, i), loaded(keys, j)];
  const [pi, pj] = [loaded(places, i), loaded(places, j)];
  const bool = (op: string, ...args: Expr[]): Expr => call(op, "bool", ...args);
  const later = bool(
    "or",
    bool("greater", ki, kj),
    bool("and", bool("equal", ki, kj), bool("greater", pi, pj)),
  );
  const put = (to: string, at: Dim, value: string): Stmt => ({
    kind: "store",
    to,
    index: addDim(start, at),
    value: ref(value, "i32"),
  });
  const pick = (name: string, yes: Expr, no: Expr): Stmt => ({
    kind: "let",
    name,
    value: i32("select", ref("later", "bool"), yes, no),
  });
  return [
    { kind: "letDynamic", name: low, value: i32("add", base, mirrored) },
    { kind: "letDynamic", name: high, value: i32("add", index(i), gap) },
    {
      kind: "if",
      when: [isBelow(j, size)],
      then: [
        { kind: "let", name: "later", value: later },
        pick("keyLow", kj, ki),
        pick("keyHigh", ki, kj),
        pick("placeLow", pj, pi),
        pick("placeHigh", pi, pj),
        put(keys, i, "keyLow"),
        put(keys, j, "keyHigh"),
        put(places, i, "placeLow"),
        put(places, j, "placeHigh"),
      ],
    },
  ];
}
