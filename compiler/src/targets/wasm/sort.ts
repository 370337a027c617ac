/**
 * Sorting in WebAssembly: functions that give the order of one line of keys, added to a module
 * that calls them. A key above its place is one element: of an i32 key an i64, of an f64 key two
 * of them in a v128. Runs of eight are sorted as they are made and merged from one half of the
 * spare memory into the other; the first few of many are kept in a short list instead. Why
 * merging: it reads and writes memory in order. Equal keys stay in order, since their places
 * differ. A list of at most 64 costs less than a merge where a quarter of the keys or fewer are
 * asked for (top-k).
 */
import {
  block,
  branch,
  branchIf,
  type Code,
  call,
  f64Const,
  get,
  i32Const,
  i64Const,
  laneOp,
  loop,
  memory,
  op,
  set,
  type ValueType,
  type WasmFunction,
  when,
} from "./code.ts";

type KeyType = "i32" | "f64";

/** Most places that are kept in a list, if there are four times as many keys. */
const listed = 64;
const run = 8;

const add = (a: Code, b: Code): Code => op("i32.add", a, b);
const sub = (a: Code, b: Code): Code => op("i32.sub", a, b);
const least = (a: Code, b: Code): Code => op("select", a, b, op("i32.lt_u", a, b));

/** How elements are made, compared and kept. */
interface Elements {
  /** log₂ of their bytes. */
  readonly shift: number;
  readonly type: "i64" | "v128";
  less(a: Code, b: Code): Code;
  /** Sets `e` to the element of the key at `i`. */
  readonly pack: readonly Code[];
  /** The place in the element at an address. */
  place(at: Code): Code;
}

const flip = get("flip");
const place64 = op("i64.extend_i32_u", get("i"));
const keyAt = (shift: number): Code => add(get("keys"), op("i32.shl", get("i"), i32Const(shift)));

/** Made when something is sorted, not at every start. */
const elements = (): Readonly<Record<KeyType, Elements>> => ({
  i32: {
    shift: 3,
    type: "i64",
    less: (a, b) => op("i64.lt_s", a, b),
    pack: [
      set(
        "key",
        op(
          "i64.extend_i32_s",
          op("i32.xor", memory("i32.load", { offset: 0, base: keyAt(2) }), flip),
        ),
      ),
      set("e", op("i64.or", op("i64.shl", get("key"), i64Const(32n)), place64)),
    ],
    place: (at) => memory("i32.load", { offset: 0, base: at }),
  },
  f64: {
    shift: 4,
    type: "v128",
    less: (a, b) =>
      op("i64.lt_s", laneOp("i64x2.extract_lane", 0, a), laneOp("i64x2.extract_lane", 0, b)),
    pack: [
      // −0 becomes 0.
      set("x", op("f64.add", memory("f64.load", { offset: 0, base: keyAt(3) }), f64Const(0))),
      set("key", op("i64.reinterpret_f64", get("x"))),
      // The bits of negative numbers fall; NaN is the greatest.
      set(
        "key",
        op(
          "select",
          i64Const(9223372036854775807n),
          op(
            "i64.xor",
            get("key"),
            op("i64.shr_u", op("i64.shr_s", get("key"), i64Const(63n)), i64Const(1n)),
          ),
          op("f64.ne", get("x"), get("x")),
        ),
      ),
      set("key", op("i64.xor", get("key"), op("i64.extend_i32_s", flip))),
      set("e", laneOp("i64x2.replace_lane", 1, op("i64x2.splat", get("key")), place64)),
    ],
    place: (at) => memory("i32.load", { offset: 8, base: at }),
  },
});

const sizeOf = (of: Elements): Code => i32Const(1 << of.shift);
const load = (of: Elements, at: Code): Code => memory(`${of.type}.load`, { offset: 0, base: at });
const store = (of: Elements, at: Code, value: Code): Code =>
  memory(`${of.type}.store`, { offset: 0, base: at }, value);
/** `base` plus so many elements. */
const after = (of: Elements, base: Code, count: Code): Code =>
  add(base, op("i32.shl", count, i32Const(of.shift)));

/** Puts `e` among the sorted elements from `base` to before `at`, which move up. */
const insert = (of: Elements): Code[] => [
  block("placed", "", [
    loop("shift", [
      branchIf("placed", op("i32.eq", get("at"), get("base"))),
      set("l", load(of, sub(get("at"), sizeOf(of)))),
      branchIf("placed", op("i32.eqz", of.less(get("e"), get("l")))),
      store(of, get("at"), get("l")),
      set("at", sub(get("at"), sizeOf(of))),
      branch("shift"),
    ]),
  ]),
  store(of, get("at"), get("e")),
];

/** Runs `body` for i from 0 while it is less than the local `end`, which is not 0. */
const each = (label: string, end: string, body: readonly Code[]): Code[] => [
  set("i", i32Const(0)),
  loop(label, [
    ...body,
    set("i", add(get("i"), i32Const(1))),
    branchIf(label, op("i32.lt_u", get("i"), get(end))),
  ]),
];

/** order[i] = the place in the i-th element from `base`. */
const unpack = (of: Elements, base: string): Code[] =>
  each("places", "count", [
    memory(
      "i32.store",
      { offset: 0, base: add(get("order"), op("i32.shl", get("i"), i32Const(2))) },
      of.place(after(of, get(base), get("i"))),
    ),
  ]);

const params = ["keys", "order", "spare", "n", "count", "flip"];
const counters = ["i", "at", "base", "a", "b", "w", "lo", "p", "pEnd", "q", "qEnd", "out", "c"];

const allOf = (names: readonly string[]): [string, ValueType][] =>
  names.map((name) => [name, "i32"]);

const sorting = (name: string, of: Elements, body: readonly Code[]): WasmFunction => ({
  name,
  exported: false,
  params: new Map(allOf(params)),
  locals: new Map<string, ValueType>([
    ...allOf(counters),
    ["key", "i64"],
    ["x", "f64"],
    ["e", of.type],
    ["l", of.type],
    ["r", of.type],
  ]),
  calls: new Set(),
  body,
});

const listFunction = (name: string, of: Elements): WasmFunction =>
  sorting(name, of, [
    set("base", get("spare")),
    // The list from base to p grows to pEnd.
    set("p", get("spare")),
    set("pEnd", after(of, get("spare"), get("count"))),
    ...each("keys", "n", [
      ...of.pack,
      block("next", "", [
        when(
          op("i32.lt_u", get("p"), get("pEnd")),
          [set("at", get("p")), set("p", add(get("p"), sizeOf(of)))],
          [
            set("at", sub(get("p"), sizeOf(of))),
            branchIf("next", op("i32.eqz", of.less(get("e"), load(of, get("at"))))),
          ],
        ),
        ...insert(of),
      ]),
    ]),
    ...unpack(of, "base"),
  ]);

/** Merges the runs from p to pEnd and from q to qEnd into `out`. */
const merge = (of: Elements): Code[] => [
  block("merged", "", [
    loop("merge", [
      branchIf("merged", op("i32.eq", get("p"), get("pEnd"))),
      branchIf("merged", op("i32.eq", get("q"), get("qEnd"))),
      set("l", load(of, get("p"))),
      set("r", load(of, get("q"))),
      set("c", of.less(get("r"), get("l"))),
      store(of, get("out"), op("select", get("r"), get("l"), get("c"))),
      set("p", after(of, get("p"), op("i32.xor", get("c"), i32Const(1)))),
      set("q", after(of, get("q"), get("c"))),
      set("out", add(get("out"), sizeOf(of))),
      branch("merge"),
    ]),
  ]),
  op("memory.copy", get("out"), get("p"), sub(get("pEnd"), get("p"))),
  set("out", add(get("out"), sub(get("pEnd"), get("p")))),
  op("memory.copy", get("out"), get("q"), sub(get("qEnd"), get("q"))),
];

/** Passes over all runs, each of which doubles their length. */
const passes = (of: Elements): Code =>
  block("sorted", "", [
    loop("pass", [
      branchIf("sorted", op("i32.ge_u", get("w"), get("n"))),
      set("lo", i32Const(0)),
      loop("runs", [
        set("p", after(of, get("a"), get("lo"))),
        set("out", after(of, get("b"), get("lo"))),
        set("q", after(of, get("a"), least(add(get("lo"), get("w")), get("n")))),
        set("pEnd", get("q")),
        set("lo", add(get("lo"), op("i32.shl", get("w"), i32Const(1)))),
        set("qEnd", after(of, get("a"), least(get("lo"), get("n")))),
        ...merge(of),
        branchIf("runs", op("i32.lt_u", get("lo"), get("n"))),
      ]),
      set("out", get("a")),
      set("a", get("b")),
      set("b", get("out")),
      set("w", op("i32.shl", get("w"), i32Const(1))),
      branch("pass"),
    ]),
  ]);

function sortFunction(name: string, list: string, of: Elements): WasmFunction {
  const few = op(
    "i32.and",
    op("i32.le_u", get("count"), i32Const(listed)),
    op("i32.le_u", op("i32.shl", get("count"), i32Const(2)), get("n")),
  );
  return sorting(name, of, [
    when(op("i32.eqz", get("count")), [op("return")]),
    when(few, [call(list, params.map(get)), op("return")]),
    set("a", get("spare")),
    set("b", after(of, get("spare"), get("n"))),
    ...each("keys", "n", [
      ...of.pack,
      set("base", after(of, get("a"), op("i32.and", get("i"), i32Const(-run)))),
      set("at", after(of, get("a"), get("i"))),
      ...insert(of),
    ]),
    set("w", i32Const(run)),
    passes(of),
    ...unpack(of, "a"),
  ]);
}

/** The function that sorts a line of keys; its arguments are addresses and counts. */
export const sorterOf = (keys: KeyType): string => `sort.${keys}`;

/** The functions that those of a module call. */
export function sortFunctions(callers: readonly WasmFunction[]): WasmFunction[] {
  const kinds: KeyType[] = ["i32", "f64"];
  return kinds
    .filter((keys) => callers.some((f) => f.calls.has(sorterOf(keys))))
    .flatMap((keys) => {
      const [name, list] = [sorterOf(keys), `${sorterOf(keys)}.list`];
      const of = elements()[keys];
      return [listFunction(list, of), sortFunction(name, list, of)];
    });
}
