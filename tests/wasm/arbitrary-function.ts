/** Random valid functions: nested control, every type, calls to each other and to `Math`. */

import fc from "fast-check";

type ValueType = "i32" | "f32" | "f64" | "v128";

const int = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }).map(String);
const float = fc.double().map((x) => {
  if (Number.isNaN(x)) return "nan";
  if (!Number.isFinite(x)) return x < 0 ? "-inf" : "inf";
  return Object.is(x, -0) ? "-0" : String(x);
});
const single = fc.float().map((x) => (Number.isFinite(x) ? String(x) : "inf"));
const space = fc.constantFrom(" ", "\n  ", " ;; ( a comment\n", " (; another ) ;) ");
const depth = { maxDepth: 5, depthIdentifier: "wat" } as const;

/** `(op a b …)` with space between. */
function form(op: string, ...parts: fc.Arbitrary<string>[]): fc.Arbitrary<string> {
  return fc
    .tuple(fc.constant(op), ...parts, space)
    .map((all) => `(${all.slice(0, -1).join(all.at(-1))})`);
}

function ops(names: string, ...parts: fc.Arbitrary<string>[]): fc.Arbitrary<string> {
  return fc.constantFrom(...names.split(" ")).chain((op) => form(op, ...parts));
}

const local = fc.constantFrom("0", "1", "2");
const offset = fc.constantFrom("", "offset=16", "offset=300 align=1");

interface Grammar extends Record<ValueType, string> {
  statement: string;
  body: string;
}

const grammar = fc.letrec<Grammar>((untyped) => {
  const tie = untyped as (rule: keyof Grammar) => fc.Arbitrary<string>;
  const [i32, f32, f64, v128] = [tie("i32"), tie("f32"), tie("f64"), tie("v128")];
  const of = { i32, f32, f64, v128 };
  const value = (type: ValueType, leaf: fc.Arbitrary<string>, ...more: fc.Arbitrary<string>[]) =>
    fc.oneof(
      depth,
      leaf,
      local.map((k) => `(local.get $${type}_${k})`),
      form(
        "local.tee",
        local.map((k) => `$${type}_${k}`),
        of[type],
      ),
      form("select", of[type], of[type], i32),
      form(`if (result ${type})`, i32, form("then", of[type]), form("else", tie("body"), of[type])),
      form(`block $b (result ${type})`, tie("body"), of[type]),
      ...more,
    );
  return {
    i32: value(
      "i32",
      int.map((x) => `(i32.const ${x})`),
      ops("i32.add i32.mul i32.shr_u i32.and i32.lt_s", i32, i32),
      ops("f64.lt f64.eq", f64, f64),
      ops("v128.any_true i32x4.bitmask i32x4.all_true", v128),
      form("i32.load", offset, i32),
      form("i32x4.extract_lane", fc.constantFrom("0", "3"), v128),
    ),
    f32: value(
      "f32",
      single.map((x) => `(f32.const ${x})`),
      ops("f32.add f32.div f32.min", f32, f32),
      ops("f32.demote_f64", f64),
    ),
    f64: value(
      "f64",
      float.map((x) => `(f64.const ${x})`),
      ops("f64.add f64.sub f64.copysign", f64, f64),
      ops("call\t$Math.exp call\t$Math.sin call\t$half", f64),
      form("call $Math.pow", f64, f64),
    ),
    v128: value(
      "v128",
      fc.tuple(single, single, single, single).map((x) => `(v128.const f32x4 ${x.join(" ")})`),
      ops("f32x4.madd f32x4.nmadd f64x2.madd f64x2.nmadd", v128, v128, v128),
      ops("f32x4.madd f32x4.nmadd v128.bitselect", v128, v128, v128),
      ops("f32x4.mul i32x4.lt_s f32x4.pmin i32x4.min_u", v128, v128),
      form("f32x4.splat", f32),
      form("f64x2.replace_lane 1", v128, f64),
      form("v128.load32_splat", offset, i32),
    ),
    statement: fc.oneof(
      depth,
      fc.constant("(nop)"),
      ...(["i32", "f32", "f64", "v128"] as const).flatMap((type) => [
        form(
          "local.set",
          local.map((k) => `$${type}_${k}`),
          of[type],
        ),
        form("drop", of[type]),
      ]),
      form("v128.store", offset, i32, v128),
      form("if", i32, form("then", tie("body"))),
      form("if", i32, form("then", tie("body")), form("else", tie("body"))),
      form("block $inner", tie("body"), fc.constantFrom("(br $inner)", "(br $outer)", "(return)")),
      form("loop $inner", tie("body"), form("br_if $inner", i32), form("br_if $outer", i32)),
    ),
    body: fc.array(tie("statement"), { maxLength: 3 }).map((all) => all.join(" ")),
  };
});

const locals = (["i32", "f32", "f64", "v128"] as const)
  .flatMap((type) => ["0", "1", "2"].map((k) => `(local $${type}_${k} ${type})`))
  .join(" ");

/** The instructions of a function that returns nothing. */
export const arbitraryBody: fc.Arbitrary<string> = grammar.body;

/** A module's functions, one a body, and `$half`, which the bodies call. */
export function functionsOf(bodies: readonly string[]): string[] {
  const half = "(func $half (param $x f64) (result f64) (f64.mul (local.get $x) (f64.const 0.5)))";
  const texts = bodies.map(
    (body, i) => `(func $f${i} (export "f${i}") ${locals} (block $outer ${body}))`,
  );
  return [`${texts[0]} ${half}`, ...texts.slice(1)];
}
