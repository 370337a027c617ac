/** The encoder of the wasm target against wabt, the engine and its own error messages. */
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import loadWabt from "wabt";
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
  loop,
  memory,
  op,
  set,
  splat,
  type ValueType,
  type WasmFunction,
  when,
} from "../../compiler/src/targets/wasm/code.ts";
import { listing, type Variant } from "../../compiler/src/targets/wasm/listing.ts";
import { encodeModules } from "../../compiler/src/targets/wasm/module.ts";
import { instructions, type PlainName } from "../../compiler/src/targets/wasm/opcodes.ts";
import { runs } from "../support/setup.ts";
import { arbitraryBody, functionsOf } from "./arbitrary-function.ts";
import { everyInstruction } from "./instructions.ts";

const features = { simd: true, relaxed_simd: true, threads: true };
const variants: readonly Variant[] = ["plain", "relaxed"];

let wabt: ReturnType<typeof loadWabt> | undefined;

type Imports = Map<string, number>;

/** Functions of `Math` in order of first call, operands before the call itself. */
function importsOf(body: readonly Code[], variant: Variant, found: Imports = new Map()): Imports {
  for (const { op, args, immediate } of body) {
    const [a, b, c] = args;
    const last = op.kind === "nmadd" && variant === "plain";
    importsOf(last ? [c!, a!, b!] : args, variant, found);
    const name = String(immediate);
    if (op.kind === "call" && name.startsWith("Math.") && !found.has(name))
      found.set(name, args.length);
  }
  return found;
}

function moduleText(functions: readonly WasmFunction[], variant: Variant): string {
  const imports = importsOf(
    functions.flatMap((f) => f.body),
    variant,
  );
  return [
    '(module (import "env" "memory" (memory 1 65536))',
    ...[...imports].map(
      ([name, count]) =>
        `(import "Math" "${name.slice(5)}" (func $${name}${" (param f64)".repeat(count)} (result f64)))`,
    ),
    ...functions.map((f) => listing(f, variant)),
    ")",
  ].join("\n");
}

/** wabt's bytes for the same module as text, which it has validated. */
async function wabtBytes(
  functions: readonly WasmFunction[],
  variant: Variant,
): Promise<Uint8Array> {
  wabt ??= loadWabt();
  const module = (await wabt).parseWat("module.wat", moduleText(functions, variant), features);
  try {
    module.validate();
    return module.toBinary({ canonicalize_lebs: true }).buffer.slice();
  } finally {
    module.destroy();
  }
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

async function agrees(functions: readonly WasmFunction[]): Promise<void> {
  const modules = encodeModules(functions);
  for (const variant of variants)
    assert.is(hex(modules[variant]), hex(await wabtBytes(functions, variant)));
  assert.ok(WebAssembly.validate(modules.plain as BufferSource));
}

function func(
  name: string,
  params: Readonly<Record<string, ValueType>>,
  body: readonly Code[],
  more: Partial<WasmFunction> = {},
): WasmFunction {
  const given = new Map(Object.entries(params));
  return {
    name,
    exported: true,
    params: given,
    locals: new Map(),
    calls: new Set(),
    body,
    ...more,
  };
}

test("every instruction of the table has the bytes of its text", async () => {
  await agrees(everyInstruction());
});

const power = func(
  "power",
  { x: "f64", n: "i32" },
  [
    set("y", f64Const(1)),
    comment("x to the n-th"),
    block("done", "", [
      loop("again", [
        branchIf("done", op("i32.eqz", get("n"))),
        set("y", op("f64.mul", get("y"), get("x"))),
        set("n", op("i32.sub", get("n"), i32Const(1))),
        branch("again"),
      ]),
    ]),
    get("y"),
  ],
  { result: "f64", locals: new Map([["y", "f64"]]) },
);
const square = call("power", [get("x"), i32Const(2)]);
const atan = func(
  "atan",
  { y: "f64", x: "f64" },
  [
    choice(
      "f64",
      op("f64.lt", get("y"), f64Const(0)),
      op("f64.neg", call("Math.atan2", [op("f64.neg", get("y")), get("x")])),
      call("Math.atan2", [get("y"), call("Math.sqrt", [square])]),
    ),
  ],
  { result: "f64" },
);
const lane = (x: Code): Code => op("f32x4.splat", op("f32.demote_f64", x));
const fused = func("fused", { at: "i32" }, [
  memory(
    "v128.store",
    { offset: 0, base: get("at") },
    op(
      "f32x4.nmadd",
      memory("v128.load", { offset: 0, base: get("at") }),
      op(
        "f32x4.madd",
        memory("v128.load", { offset: 16, base: get("at") }),
        splat("f32x4", 2),
        lane(call("Math.exp", [f64Const(0)])),
      ),
      op(
        "f32x4.nmadd",
        splat("f32x4", 1),
        lane(call("Math.cos", [f64Const(0)])),
        lane(call("power", [f64Const(3), i32Const(2)])),
      ),
    ),
  ),
]);
const control = [power, atan, fused];

test("control, calls and fused operations have the bytes of their text", async () => {
  const empty = func("empty", {}, [], { exported: false });
  const labels = [block("", "", []), loop("l", [branch("l")])];
  await agrees([...control, empty, func("labels", {}, labels, { exported: false })]);
});

test("random functions have the bytes of their text", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(arbitraryBody, { minLength: 1, maxLength: 4 }), (bodies) =>
      agrees(functionsOf(bodies)),
    ),
    { numRuns: runs(60) },
  );
});

test("a module is encoded once", () => {
  const modules = encodeModules(control);
  for (const variant of variants) assert.is(modules[variant], modules[variant]);
});

test("encoded functions run", () => {
  const module = new WebAssembly.Module(encodeModules(control).plain as BufferSource);
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 65536 });
  const { exports } = new WebAssembly.Instance(module, { env: { memory }, Math: mathOf() });
  const { power, atan, fused } = exports as Record<string, (...args: number[]) => number>;
  assert.is(power!(3, 5), 243);
  assert.is(atan!(-1, 2), Math.atan2(-1, 2));
  assert.is(atan!(1, -2), Math.atan2(1, 2));
  const floats = new Float32Array(memory.buffer, 0, 8);
  floats.set([1, 2, 3, 4, 5, 6, 7, 8]);
  fused!(0);
  // (9 − 1·1) − a·(2b + 1)
  assert.equal([...floats.subarray(0, 4)], [8 - 11, 8 - 26, 8 - 45, 8 - 68]);
});

function mathOf(): Record<string, WebAssembly.ImportValue> {
  return { exp: Math.exp, cos: Math.cos, atan2: Math.atan2, sqrt: Math.sqrt };
}

test("a listing has a statement a line and keeps the pseudo instructions unless a variant is named", () => {
  const a = get("a");
  const f = func(
    "f",
    { a: "v128" },
    [comment("exp"), op("f32x4.nmadd", a, op("f32x4.madd", a, a, a), a)],
    { result: "v128" },
  );
  const line = (variant?: "plain" | "relaxed") => listing(f, variant).split("\n")[2];
  const x = "(local.get $a)";
  assert.equal(listing(f).split("\n"), [
    '(func $f (export "f") (param $a v128) (result v128)',
    "  ;; exp",
    `  (f32x4.nmadd ${x} (f32x4.madd ${x} ${x} ${x}) ${x})`,
    ")",
  ]);
  assert.is(
    line("relaxed"),
    `  (f32x4.relaxed_nmadd ${x} (f32x4.relaxed_madd ${x} ${x} ${x}) ${x})`,
  );
  assert.is(
    line("plain"),
    `  (f32x4.sub ${x} (f32x4.mul ${x} (f32x4.add (f32x4.mul ${x} ${x}) ${x})))`,
  );
});

test("the memory is the first import, with a maximum and unshared", () => {
  const bytes = encodeModules(control).relaxed;
  // Four types before it; then the section, its size, four more imports than Math's.
  const memory = hex(
    new Uint8Array([3, ...Buffer.from("env"), 6, ...Buffer.from("memory"), 2, 1, 1]),
  );
  const at = hex(bytes).indexOf(`${memory}808004`) / 2;
  assert.is(bytes[at - 3], 2);
  assert.is(bytes[at - 1], 5);
});

const nop = op("nop");
/** Functions and what the encoder says of them. */
const faults: readonly (readonly [functions: readonly WasmFunction[], message: string])[] = [
  [[func("f", {}, [get("x")])], "f: no local is called x"],
  [[func("g", { x: "i32" }, []), func("f", {}, [get("x")])], "f: no local is called x"],
  [[func("f", { x: "i32" }, [], { locals: new Map([["x", "i32"]]) })], "f: x declared twice"],
  [[func("f", {}, []), func("f", {}, [])], "f: defined twice"],
  [[func("f", {}, [op("i32.add", i32Const(1))])], "f: i32.add takes 2 operands, not 1"],
  [[func("f", {}, [op("f32x4.madd", nop, nop)])], "f: f32x4.madd takes 3 operands, not 2"],
  [[func("f", {}, [block("a", "", []), branch("a")])], "f: no block around is called a"],
  [[func("f", {}, [when(nop, [nop]).args[1]!])], "f: then where an instruction must stand"],
  [[func("f", {}, [call("g", [])])], "f: no function is called g"],
  [[func("f", {}, [call("Math.random", [])])], "f: Math.random takes 1 or 2 operands, not 0"],
  [[func("f", { x: "i32" }, [call("f", [])])], "f: f takes 1 operands, not 0"],
  [
    [func("f", {}, [call("Math.pow", [nop]), call("Math.pow", [nop, nop])])],
    "f: Math.pow called with 2 operands, elsewhere 1",
  ],
];

test("errors name the function and what is wrong", () => {
  const refused = (make: () => unknown, message: string) =>
    assert.throws(make, (error: Error) => error.message.split("\n")[0] === message, message);
  for (const [functions, message] of faults)
    refused(() => encodeModules(functions).plain, `bug in encode: ${message}`);
});

test("an instruction that the table lacks does not compile", () => {
  // @ts-expect-error
  const unknown: PlainName = "f32x4.fma";
  assert.not(instructions.some(({ name }) => name === unknown));
});

test.run();
