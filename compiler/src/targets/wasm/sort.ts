/**
 * Sorting in WebAssembly: functions that give the order of one line of keys, added to a module that calls them. A key above its
 * place is one element: of an i32 key an i64, of an f64 key two of them in a v128. Runs of eight are sorted as they are made and
 * merged from one half of the spare memory into the other; the first few of many are kept in a short list instead.
 */

type KeyType = "i32" | "f64";

/** Most places that are kept in a list, if there are four times as many keys. */
const listed = 64;
const run = 8;

const get = (name: string): string => `(local.get $${name})`;
const set = (name: string, value: string): string => `(local.set $${name} ${value})`;
const i32 = (n: number): string => `(i32.const ${n})`;
const op = (name: string, ...args: string[]): string => `(${name} ${args.join(" ")})`;
const add = (a: string, b: string): string => op("i32.add", a, b);
const sub = (a: string, b: string): string => op("i32.sub", a, b);
const least = (a: string, b: string): string => op("select", a, b, op("i32.lt_u", a, b));

/** How elements are made, compared and kept. */
interface Elements {
  /** log₂ of their bytes. */
  readonly shift: number;
  readonly type: "i64" | "v128";
  less(a: string, b: string): string;
  /** Sets `e` to the element of the key at `i`. */
  readonly pack: readonly string[];
  /** The place in the element at an address. */
  place(at: string): string;
}

const flip = get("flip");
const place64 = op("i64.extend_i32_u", get("i"));
const keyAt = (shift: number): string => add(get("keys"), op("i32.shl", get("i"), i32(shift)));

const elements: Readonly<Record<KeyType, Elements>> = {
  i32: {
    shift: 3,
    type: "i64",
    less: (a, b) => op("i64.lt_s", a, b),
    pack: [
      set("key", op("i64.extend_i32_s", op("i32.xor", op("i32.load", keyAt(2)), flip))),
      set("e", op("i64.or", op("i64.shl", get("key"), "(i64.const 32)"), place64)),
    ],
    place: (at) => op("i32.load", at),
  },
  f64: {
    shift: 4,
    type: "v128",
    less: (a, b) => op("i64.lt_s", op("i64x2.extract_lane 0", a), op("i64x2.extract_lane 0", b)),
    pack: [
      // −0 becomes 0.
      set("x", op("f64.add", op("f64.load", keyAt(3)), "(f64.const 0)")),
      set("key", op("i64.reinterpret_f64", get("x"))),
      // The bits of negative numbers fall; NaN is the greatest.
      set(
        "key",
        op(
          "select",
          "(i64.const 9223372036854775807)",
          op(
            "i64.xor",
            get("key"),
            op("i64.shr_u", op("i64.shr_s", get("key"), "(i64.const 63)"), "(i64.const 1)"),
          ),
          op("f64.ne", get("x"), get("x")),
        ),
      ),
      set("key", op("i64.xor", get("key"), op("i64.extend_i32_s", flip))),
      set("e", op("i64x2.replace_lane 1", op("i64x2.splat", get("key")), place64)),
    ],
    place: (at) => op("i32.load offset=8", at),
  },
};

const sizeOf = (of: Elements): string => i32(1 << of.shift);
const load = (of: Elements, at: string): string => op(`${of.type}.load`, at);
const store = (of: Elements, at: string, value: string): string =>
  op(`${of.type}.store`, at, value);
/** `base` plus so many elements. */
const after = (of: Elements, base: string, count: string): string =>
  add(base, op("i32.shl", count, i32(of.shift)));

/** Puts `e` among the sorted elements from `base` to before `at`, which move up. */
const insert = (of: Elements): string[] => [
  "(block $placed (loop $shift",
  `  (br_if $placed ${op("i32.eq", get("at"), get("base"))})`,
  `  ${set("l", load(of, sub(get("at"), sizeOf(of))))}`,
  `  (br_if $placed ${op("i32.eqz", of.less(get("e"), get("l")))})`,
  `  ${store(of, get("at"), get("l"))}`,
  `  ${set("at", sub(get("at"), sizeOf(of)))}`,
  "  (br $shift)))",
  store(of, get("at"), get("e")),
];

/** Runs `body` for i from 0 while it is less than the local `end`, which is not 0. */
const each = (label: string, end: string, body: readonly string[]): string[] => [
  set("i", i32(0)),
  `(loop $${label}`,
  ...body.map((l) => `  ${l}`),
  `  ${set("i", add(get("i"), i32(1)))}`,
  `  (br_if $${label} ${op("i32.lt_u", get("i"), get(end))}))`,
];

/** order[i] = the place in the i-th element from `base`. */
const unpack = (of: Elements, base: string): string[] =>
  each("places", "count", [
    op(
      "i32.store",
      add(get("order"), op("i32.shl", get("i"), i32(2))),
      of.place(after(of, get(base), get("i"))),
    ),
  ]);

const head = (name: string, of: Elements): string[] => [
  `(func $${name} ${["keys", "order", "spare", "n", "count", "flip"].map((p) => `(param $${p} i32)`).join(" ")}`,
  `  ${["i", "at", "base", "a", "b", "w", "lo", "p", "pEnd", "q", "qEnd", "out", "c"].map((l) => `(local $${l} i32)`).join(" ")}`,
  `  (local $key i64) (local $x f64) (local $e ${of.type}) (local $l ${of.type}) (local $r ${of.type})`,
];

function listFunction(name: string, of: Elements): string {
  return [
    ...head(name, of),
    set("base", get("spare")),
    // The list from base to p grows to pEnd.
    set("p", get("spare")),
    set("pEnd", after(of, get("spare"), get("count"))),
    ...each("keys", "n", [
      ...of.pack,
      "(block $next",
      `(if ${op("i32.lt_u", get("p"), get("pEnd"))} (then`,
      set("at", get("p")),
      set("p", add(get("p"), sizeOf(of))),
      ") (else",
      set("at", sub(get("p"), sizeOf(of))),
      `(br_if $next ${op("i32.eqz", of.less(get("e"), load(of, get("at"))))})`,
      "))",
      ...insert(of),
      ")",
    ]),
    ...unpack(of, "base"),
    ")",
  ].join("\n");
}

/** Merges the runs from p to pEnd and from q to qEnd into `out`. */
const merge = (of: Elements): string[] => [
  "(block $merged (loop $merge",
  `(br_if $merged ${op("i32.eq", get("p"), get("pEnd"))})`,
  `(br_if $merged ${op("i32.eq", get("q"), get("qEnd"))})`,
  set("l", load(of, get("p"))),
  set("r", load(of, get("q"))),
  set("c", of.less(get("r"), get("l"))),
  store(of, get("out"), op("select", get("r"), get("l"), get("c"))),
  set("p", after(of, get("p"), op("i32.xor", get("c"), i32(1)))),
  set("q", after(of, get("q"), get("c"))),
  set("out", add(get("out"), sizeOf(of))),
  "(br $merge)))",
  op("memory.copy", get("out"), get("p"), sub(get("pEnd"), get("p"))),
  set("out", add(get("out"), sub(get("pEnd"), get("p")))),
  op("memory.copy", get("out"), get("q"), sub(get("qEnd"), get("q"))),
];

function sortFunction(name: string, list: string, of: Elements): string {
  const few = op(
    "i32.and",
    op("i32.le_u", get("count"), i32(listed)),
    op("i32.le_u", op("i32.shl", get("count"), i32(2)), get("n")),
  );
  const args = ["keys", "order", "spare", "n", "count", "flip"].map(get).join(" ");
  return [
    ...head(name, of),
    `(if ${op("i32.eqz", get("count"))} (then (return)))`,
    `(if ${few} (then (call $${list} ${args}) (return)))`,
    set("a", get("spare")),
    set("b", after(of, get("spare"), get("n"))),
    ...each("keys", "n", [
      ...of.pack,
      set("base", after(of, get("a"), op("i32.and", get("i"), i32(-run)))),
      set("at", after(of, get("a"), get("i"))),
      ...insert(of),
    ]),
    set("w", i32(run)),
    "(block $sorted (loop $pass",
    `(br_if $sorted ${op("i32.ge_u", get("w"), get("n"))})`,
    set("lo", i32(0)),
    "(loop $runs",
    set("p", after(of, get("a"), get("lo"))),
    set("out", after(of, get("b"), get("lo"))),
    set("q", after(of, get("a"), least(add(get("lo"), get("w")), get("n")))),
    set("pEnd", get("q")),
    set("lo", add(get("lo"), op("i32.shl", get("w"), i32(1)))),
    set("qEnd", after(of, get("a"), least(get("lo"), get("n")))),
    ...merge(of),
    `(br_if $runs ${op("i32.lt_u", get("lo"), get("n"))}))`,
    set("out", get("a")),
    set("a", get("b")),
    set("b", get("out")),
    set("w", op("i32.shl", get("w"), i32(1))),
    "(br $pass)))",
    ...unpack(of, "a"),
    ")",
  ].join("\n");
}

const nameOf = (keys: KeyType): string => `sort.${keys}`;

/** The call that sorts a line of keys; arguments are addresses and counts. */
export const sortCall = (keys: KeyType, args: readonly string[]): string =>
  `(call $${nameOf(keys)} ${args.join(" ")})`;

/** The functions that the texts of a module call. */
export function sortFunctions(texts: readonly string[]): string[] {
  const kinds: KeyType[] = ["i32", "f64"];
  return kinds
    .filter((keys) => texts.some((t) => t.includes(`(call $${nameOf(keys)} `)))
    .flatMap((keys) => {
      const [name, list] = [nameOf(keys), `${nameOf(keys)}.list`];
      return [listFunction(list, elements[keys]), sortFunction(name, list, elements[keys])];
    });
}
