/** Hand-written wasm artifacts: a few kernels over f32[N], assembled by wabt, no compiler. */
import type { Artifact, KernelText } from "@kiln-ml/artifact";
import wabt from "wabt";
import { artifact, place } from "../runtime/artifacts.ts";

/** A loop of the local `i` over the function's units. */
const eachUnit = (body: string) => `
  (local.set $i (local.get $from))
  (block $done (loop $next
    (br_if $done (i32.ge_s (local.get $i) (local.get $to)))
    ${body}
    (local.set $i (i32.add (local.get $i) (i32.const 1)))
    (br $next)))`;

const element = (base: string, index = "(local.get $i)") =>
  `(i32.add (local.get $${base}) (i32.shl ${index} (i32.const 2)))`;

const last = "(i32.sub (i32.sub (local.get $n) (i32.const 1)) (local.get $i))";

/** Function name → its bindings and its body. */
const functions: Record<string, readonly [string, string]> = {
  add: [
    "x y out",
    eachUnit(
      `(f32.store ${element("out")} (f32.add (f32.load ${element("x")}) (f32.load ${element("y")})))`,
    ),
  ],
  increment: [
    "x total out",
    eachUnit(`(f32.store ${element("total")} (f32.add (f32.load ${element("x")}) (f32.const 1)))`),
  ],
  // The second phase reads what other threads wrote in the first.
  reverse: [
    "x total out",
    eachUnit(`(f32.store ${element("out")} (f32.load ${element("total", last)}))`),
  ],
  accumulate: [
    "x total",
    eachUnit(
      `(f32.store ${element("total")} (f32.add (f32.load ${element("total")}) (f32.load ${element("x")})))`,
    ),
  ],
  // Through private memory, which no other thread may touch meanwhile.
  remember: [
    "x out",
    `${eachUnit(`(f32.store (local.get $stack) (f32.load ${element("x")}))
    (f32.store ${element("out")} (f32.load (local.get $stack)))`)}`,
  ],
  sine: [
    "x out",
    eachUnit(
      `(f32.store ${element("out")} (f32.demote_f64 (call $sin (f64.promote_f32 (f32.load ${element("x")})))))`,
    ),
  ],
  trap: [
    "x out",
    eachUnit(
      `(if (i32.eq (local.get $i) (i32.trunc_f32_s (f32.load (local.get $x)))) (then unreachable))`,
    ),
  ],
  // With two threads: on the one whose private memory is at x[0], waits for the other; there, turns round x[1] times.
  stuck: [
    "x out",
    `(local.set $n (i32.trunc_f32_s (f32.load offset=4 (local.get $x))))
  (if (i32.eq (local.get $stack) (i32.trunc_f32_s (f32.load (local.get $x))))
    (then (loop $wait (br_if $wait (i32.eqz (i32.atomic.load (local.get $out))))))
    (else
      (i32.atomic.store (local.get $out) (i32.const 1))
      (loop $spin (br_if $spin (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))))`,
  ],
  // Seconds a unit: what ends it is the end of the device.
  slow: [
    "x out",
    eachUnit(`(local.set $n (i32.const 2000000000))
    (loop $spin (br_if $spin (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))`),
  ],
};

const assembler = await wabt();

export function assemble(text: string): Uint8Array {
  const module = assembler.parseWat("test.wat", text, { simd: true, threads: true });
  try {
    return module.toBinary({}).buffer;
  } finally {
    module.destroy();
  }
}

/** `name` exported as a function of the form that phases have. */
export const wat = (name: string, bindings: string, body: string): string => {
  const params = `${bindings} n from to stack`.replace(/\S+/g, "(param $$$& i32)");
  return `(func (export "${name}") ${params} (local $i i32) ${body})`;
};

export const moduleOf = (...funcs: string[]): Uint8Array =>
  assemble(`(module
(import "env" "memory" (memory 1 65536))
(import "Math" "sin" (func $sin (param f64) (result f64)))
${funcs.join("\n")})`);

const everything = moduleOf(
  ...Object.entries(functions).map(([name, [bindings, body]]) => wat(name, bindings, body)),
);

export const modules = { plain: everything, relaxed: everything };

const access = { out: "write", total: "readwrite" } as const;

/** A kernel of one phase for each function. */
export function wasmKernel(names: string, stack = 0): KernelText {
  const entries = names.split(" ");
  const bindings = functions[entries[0]!]![0].split(" ").map(
    (name): KernelText["bindings"][number] => ({
      name,
      dtype: "f32",
      access: access[name as keyof typeof access] ?? "read",
    }),
  );
  const phases = entries.map((entry) => ({ entry, units: "N" }));
  return { name: names, text: "", bindings, dims: ["N"], phases, stack };
}

/** So much work that it is shared among threads. */
export const heavy = 5e6;

/** out[N] = kernel(inputs…), with the state total[8] if the kernel has one. `flops` decides about threads. */
export function elementwise(kernel: KernelText, flops = heavy): Artifact {
  const spaces = kernel.bindings.map(({ name }) =>
    name === "out" ? "output" : name === "total" ? "slot" : "input",
  );
  const inputs = kernel.bindings.filter((_, i) => spaces[i] === "input");
  const index = (name: string) => inputs.findIndex((b) => b.name === name);
  const args = kernel.bindings.map(({ name }, i) => place(spaces[i]!, Math.max(0, index(name))));
  return artifact({
    target: "wasm",
    name: kernel.name,
    signature: {
      dims: [{ name: "N", min: 0, max: null }],
      inputs: inputs.map(({ name }) => ({ name, dtype: "f32", shape: ["N"] })),
      outputs: [{ name: "out", dtype: "f32", shape: ["N"] }],
      states: [],
    },
    kernels: [kernel],
    modules,
    plan: {
      slots: spaces.includes("slot") ? [{ sizes: [["*", "N", 4]] }] : [],
      steps: [{ kernel: 0, args, bytes: ["*", "N", 8], flops }],
      copies: [],
    },
  });
}

/** total[4] += x, and the new total as an output, copied. `steps` launches of the kernel a run. */
export function accumulation(flops = heavy, steps = 1): Artifact {
  const kernel = { ...wasmKernel("accumulate"), dims: [] };
  const step = { kernel: 0, args: [place("input"), place("state")], bytes: 48, flops };
  return artifact({
    target: "wasm",
    name: "accumulation",
    signature: {
      dims: [],
      inputs: [{ name: "x", dtype: "f32", shape: [4] }],
      outputs: [{ name: "after", dtype: "f32", shape: [4] }],
      states: [{ name: "total", dtype: "f32", shape: [4], trainable: false, written: true }],
    },
    kernels: [{ ...kernel, dims: ["N"].slice(1), phases: [{ entry: "accumulate4", units: 4 }] }],
    modules: fixed,
    plan: {
      slots: [],
      steps: Array.from({ length: steps }, () => step),
      copies: [{ from: place("state"), to: place("output"), bytes: 16 }],
    },
    weights: {
      total: { dtype: "f32", shape: [4], data: new Uint8Array(Float32Array.of(1, 2, 3, 4).buffer) },
    },
  });
}

const accumulate4 = moduleOf(
  wat("accumulate4", "x total", functions.accumulate![1]).replace("(param $n i32) ", ""),
);
const fixed = { plain: accumulate4, relaxed: accumulate4 };
