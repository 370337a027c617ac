/** Random valid functions: nested control, every type, calls to each other and to `Math`. */

import fc from "fast-check";
import {
  block,
  branch,
  branchIf,
  type Code,
  call,
  choice,
  comment,
  f64Const,
  get,
  i32Const,
  laneOp,
  loop,
  memory,
  op,
  set,
  splat,
  tee,
  type ValueType,
  v128Const,
  type WasmFunction,
  when,
} from "../../compiler/src/targets/wasm/code.ts";
import type { PlainName } from "../../compiler/src/targets/wasm/opcodes.ts";

type Type = Exclude<ValueType, "i64">;
type Any = fc.Arbitrary<Code>;

const int = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const single = fc.float({ noNaN: true });
const depth = { maxDepth: 5, depthIdentifier: "wat" } as const;

/** One of the instructions, on operands of the types. */
const ops = (names: string, ...operands: Any[]): Any =>
  fc
    .tuple(fc.constantFrom(...(names.split(" ") as PlainName[])), fc.tuple(...operands))
    .map(([name, x]) => op(name, ...x));

const number = fc.constantFrom("0", "1", "2");
const address = (base: Any) =>
  fc.record({ offset: fc.constantFrom(0, 16, 300), base }, { noNullPrototype: true });

interface Grammar extends Record<Type, Code> {
  statement: Code;
  body: Code[];
}

const grammar = fc.letrec<Grammar>((untyped) => {
  const tie = untyped as (rule: Type | "statement") => Any;
  const body = untyped("body") as fc.Arbitrary<Code[]>;
  const [i32, f32, f64, v128] = [tie("i32"), tie("f32"), tie("f64"), tie("v128")];
  const of = { i32, f32, f64, v128 };
  const value = (type: Type, leaf: Any, ...more: Any[]): Any =>
    fc.oneof(
      depth,
      leaf,
      number.map((k) => get(`${type}_${k}`)),
      fc.tuple(number, of[type]).map(([k, x]) => tee(`${type}_${k}`, x)),
      ops("select", of[type], of[type], i32),
      fc.tuple(i32, of[type], of[type]).map(([c, a, b]) => choice(type, c, a, b)),
      fc.tuple(body, of[type]).map(([all, x]) => block("b", type, [...all, x])),
      ...more,
    );
  return {
    i32: value(
      "i32",
      int.map(i32Const),
      ops("i32.add i32.mul i32.shr_u i32.and i32.lt_s", i32, i32),
      ops("f64.lt f64.eq", f64, f64),
      ops("v128.any_true i32x4.bitmask i32x4.all_true", v128),
      address(i32).map((at) => memory("i32.load", at)),
      fc.tuple(fc.constantFrom(0, 3), v128).map(([i, v]) => laneOp("i32x4.extract_lane", i, v)),
    ),
    f32: value(
      "f32",
      ops("f32.demote_f64", fc.double().map(f64Const)),
      ops("f32.add f32.div f32.min", f32, f32),
      ops("f32.demote_f64", f64),
    ),
    f64: value(
      "f64",
      fc.double().map(f64Const),
      ops("f64.add f64.sub f64.copysign", f64, f64),
      fc
        .tuple(fc.constantFrom("Math.exp", "Math.sin", "half"), f64)
        .map(([name, x]) => call(name, [x])),
      fc.tuple(f64, f64).map((x) => call("Math.pow", x)),
    ),
    v128: value(
      "v128",
      fc.oneof(
        single.map((x) => splat("f32x4", x)),
        fc.tuple(single, single, single, single).map((x) => v128Const("f32x4", x)),
        fc.tuple(int, int, int, int).map((x) => v128Const("i32x4", x)),
      ),
      ops("f32x4.madd f32x4.nmadd f64x2.madd f64x2.nmadd", v128, v128, v128),
      ops("f32x4.madd f32x4.nmadd v128.bitselect", v128, v128, v128),
      ops("f32x4.mul i32x4.lt_s f32x4.pmin i32x4.min_u", v128, v128),
      ops("f32x4.splat", f32),
      fc.tuple(v128, f64).map(([v, x]) => laneOp("f64x2.replace_lane", 1, v, x)),
      address(i32).map((at) => memory("v128.load32_splat", at)),
    ),
    statement: fc.oneof(
      depth,
      fc.constantFrom(op("nop"), comment("( a comment ;)")),
      ...(["i32", "f32", "f64", "v128"] as const).flatMap((type) => [
        fc.tuple(number, of[type]).map(([k, x]) => set(`${type}_${k}`, x)),
        ops("drop", of[type]),
      ]),
      fc.tuple(address(i32), v128).map(([at, v]) => memory("v128.store", at, v)),
      fc.tuple(i32, body).map(([c, then]) => when(c, then)),
      fc.tuple(i32, body, body).map(([c, then, otherwise]) => when(c, then, otherwise)),
      fc
        .tuple(body, fc.constantFrom(branch("inner"), branch("outer"), op("return")))
        .map(([all, end]) => block("inner", "", [...all, end])),
      fc
        .tuple(body, i32, i32)
        .map(([all, a, b]) => loop("inner", [...all, branchIf("inner", a), branchIf("outer", b)])),
    ),
    body: fc.array(tie("statement"), { maxLength: 3 }),
  };
});

const locals = new Map(
  (["i32", "f32", "f64", "v128"] as const).flatMap((type) =>
    ["0", "1", "2"].map((k) => [`${type}_${k}`, type] as const),
  ),
);

/** The instructions of a function that returns nothing. */
export const arbitraryBody: fc.Arbitrary<Code[]> = grammar.body;

const half: WasmFunction = {
  name: "half",
  exported: false,
  params: new Map([["x", "f64"]]),
  locals: new Map(),
  result: "f64",
  calls: new Set(),
  body: [op("f64.mul", get("x"), f64Const(0.5))],
};

/** A module's functions, one a body, and `half`, which the bodies call. */
export function functionsOf(bodies: readonly (readonly Code[])[]): WasmFunction[] {
  const functions = bodies.map(
    (body, i): WasmFunction => ({
      name: `f${i}`,
      exported: true,
      params: new Map(),
      locals,
      calls: new Set(["half"]),
      body: [block("outer", "", body)],
    }),
  );
  return [functions[0]!, half, ...functions.slice(1)];
}
