/** A damaged or hostile artifact is refused with an ArtifactError that names the file and field: messages verbatim. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  type Artifact,
  decodeArtifact,
  encodeArtifact,
} from "../../packages/artifact/src/index.ts";
import { printManifest } from "../../packages/artifact/src/manifest.ts";
import { forge, refusal, sample, wasmSample } from "./sample.ts";

/** The refusal of the sample whose manifest was changed by `edit` and sealed again. */
const forged = (edit: (manifest: unknown) => void): string =>
  refusal(() => decodeArtifact(forge(edit)));
/** The sample's manifest with the value at `path` replaced. */
const withValue =
  (path: string, value: unknown) =>
  (m: unknown): void => {
    const keys = path.split(".");
    const last = keys.pop()!;
    let at: unknown = m;
    for (const key of keys) at = (at as Record<string, unknown>)[key];
    (at as Record<string, unknown>)[last] = value;
  };
const nested = (depth: number): unknown => {
  let e: unknown = "N";
  for (let i = 0; i < depth; i++) e = ["+", e, 1];
  return e;
};
const loop = (dim: string, body: readonly unknown[]) => ({ loop: { dim, trips: 1 }, body });
const deepFlow = (depth: number): readonly unknown[] =>
  depth === 0 ? [0] : [{ if: { in: "slot", index: 0 }, then: deepFlow(depth - 1), else: [] }];
const notCount = "not an integer from 0 to 2^53 - 1";
const slotSize = "plan.slots.0.sizes.0";
const arg = "plan.steps.0.args.2";

// biome-ignore format: one hostile value a row
const cases: readonly [field: string, value: unknown, message: string][] = [
  ["version", 2,        "version 2 was found, this reader needs version 1\n  load it with a release of kiln-ml that reads version 2"],
  ["version", "1",      'version is "1", not a positive integer'],
  ["version", 0,        "version is 0, not a positive integer"],
  ["target", "cuda",    'target is "cuda", not one of js, wasm, webgpu'],
  ["target", "wasm",    "kernels[0].phases is missing"],
  ["name", "a\nb",      'name is "a\\nb", not a name of 1 to 256 printable characters without path parts'],
  ["name", "",          'name is "", not a name of 1 to 256 printable characters without path parts'],
  ["extra", 1,          'the manifest has the unknown field "extra"'],
  ["plan", [],          "plan is [], not an object"],
  ["plan.peak", 1,      'plan has the unknown field "peak"'],
  ["limits", { constructor: 1 }, 'the key of limits is "constructor", not an identifier'],
  ["limits", { a: -1 }, `limits.a is -1, ${notCount}`],
  ["features", ["a b"], `features[0] is "a b", not a feature's name`],

  ["signature.inputs.0.dtype", "i64",     'signature.inputs[0].dtype is "i64", not one of f64, f32, f16, bf16, i32, u32, i8, u8, bool'],
  ["signature.inputs.0.name", "../x",     'signature.inputs[0].name is "../x", not a name of 1 to 256 printable characters without path parts'],
  ["signature.inputs.0.name", "a/../b",   'signature.inputs[0].name is "a/../b", not a name of 1 to 256 printable characters without path parts'],
  ["signature.inputs.0.name", "a\\b",     'signature.inputs[0].name is "a\\\\b", not a name of 1 to 256 printable characters without path parts'],
  ["signature.inputs.0.name", "__proto__", 'signature.inputs[0].name is "__proto__", not a name of 1 to 256 printable characters without path parts'],
  ["signature.states.1.name", "w",        'signature.states has "w" twice'],
  ["signature.states.0.shape", [3],       'signature.states says "w" is f32[3], its weights are f32[2]'],
  ["signature.states.0.shape", ["N"],     `signature.states[0].shape[0] is "N", ${notCount}`],
  ["signature.inputs.0.shape", [-1],      `signature.inputs[0].shape[0] is -1, ${notCount}`],
  ["signature.inputs.0.shape", [1.5],     "signature.inputs[0].shape[0] is 1.5, not an integer below 2^53"],
  ["signature.inputs.0.shape", [null],    "signature.inputs[0].shape[0] is null, not a number, a dim or [operator, a, b]"],
  ["signature.inputs.0.shape", [2 ** 53], "signature.inputs[0].shape[0] is 9007199254740992, not an integer below 2^53"],
  ["signature.inputs.0.shape", ["N", 2 ** 30, 2 ** 30], 'signature.inputs[0].shape is ["N",1073741824,1073741824], whose bytes exceed 2^53 - 1'],
  ["signature.inputs.0.shape", [0, 2 ** 30, 2 ** 30],   "signature.inputs[0].shape is [0,1073741824,1073741824], whose bytes exceed 2^53 - 1"],
  ["signature.inputs.0.shape", Array(33).fill(1),       "signature.inputs[0].shape has 33 elements, more than 32"],
  ["signature.inputs.0.shape", [2],       "signature.dims[0] is N, which no input's shape contains"],
  ["signature.inputs.0.shape", ["M"],     "signature.inputs[0].shape[0] names dim M, which the signature does not declare"],
  ["signature.dims.0.name", "N-1",        'signature.dims[0].name is "N-1", not an identifier'],
  ["signature.dims.0.max", 0,             "signature.dims[0].max is 0, below min 1"],
  ["signature.outputs.1", { name: "z", dtype: "f32", shape: [1] }, "signature.outputs[1] is written by no step and no copy"],

  [slotSize, ["^", "N", 1],       'plan.slots[0].sizes[0][0] is "^", not one of +, *, /, %, min, max'],
  [slotSize, ["+", "N"],          'plan.slots[0].sizes[0] is ["+","N"], not a number, a dim or [operator, a, b]'],
  [slotSize, ["/", 1, 0],         `plan.slots[0].sizes[0] is Infinity, ${notCount}`],
  [slotSize, ["%", 1, 0],         `plan.slots[0].sizes[0] is NaN, ${notCount}`],
  [slotSize, ["*", 2 ** 52, 4],   `plan.slots[0].sizes[0] is 18014398509481984, ${notCount}`],
  [slotSize, nested(65),          `plan.slots[0].sizes[0]${"[1]".repeat(64)} is nested deeper than 64`],
  ["plan.slots.0.sizes", [],      "plan.slots[0].sizes is empty"],
  ["plan.steps.0.kernel", 2,      "plan.steps[0].kernel is 2 of 2 kernels"],
  ["plan.steps.0.args", [],       "plan.steps[0].args has 0 places for 3 bindings"],
  [arg, { in: "slot", index: 1 },     "plan.steps[0].args[2].index is 1 of 1 slots"],
  [arg, { in: "slot", index: -1 },    `plan.steps[0].args[2].index is -1, ${notCount}`],
  [arg, { in: "heap", index: 0 },     'plan.steps[0].args[2].in is "heap", not one of slot, input, output, state, constant'],
  [arg, { in: "slot" },               "plan.steps[0].args[2].index is missing"],
  [arg, { in: "input", index: 0 },    "plan.steps[0].args[2] writes input 0, which may not change"],
  [arg, { in: "constant", index: 0 }, "plan.steps[0].args[2] writes constant 0, which may not change"],
  [arg, { in: "state", index: 0 },    "plan.steps[0].args[2] writes state 0, which may not change"],
  ["plan.steps.0.args.0", { in: "slot", index: 0 },     'plan.steps[0].args has "slot 0" twice'],
  ["plan.steps.1.args.1", { in: "constant", index: 1 }, "plan.steps[1].args[1].index is 1 of 1 constants"],
  ["plan.copies", [{ from: { in: "slot", index: 0 }, to: { in: "slot", index: 0 }, bytes: 0 }], "plan.copies[0] copies slot 0 to itself"],
  ["plan.copies", [{ from: { in: "slot", index: 0 }, to: { in: "input", index: 0 }, bytes: 0 }], "plan.copies[0].to writes input 0, which may not change"],

  ["plan.flow", 3,                  "plan.flow is 3, not a list"],
  ["plan.flow", [],                 "plan.flow names 0 of 2 steps"],
  ["plan.flow", [0],                "plan.flow names 1 of 2 steps"],
  ["plan.flow", [0, 0, 1],          "plan.flow[1] is step 0, where step 1 of 2 comes"],
  ["plan.flow", [1, 0],             "plan.flow[0] is step 1, where step 0 of 2 comes"],
  ["plan.flow", [0, 1, 2],          "plan.flow[2] is step 2 of 2"],
  ["plan.flow", [0.5, 1],           `plan.flow[0] is 0.5, ${notCount}`],
  ["plan.flow", ["0", 1],           'plan.flow[0] is "0", not an object'],
  ["plan.flow", [{}],               "plan.flow[0].if is missing"],
  ["plan.flow", [0, { loop: { dim: "i", trips: -1 }, body: [1] }],  `plan.flow[1].loop.trips is -1, ${notCount}`],
  ["plan.flow", [0, { loop: { dim: "i", trips: "M" }, body: [1] }], "plan.flow[1].loop.trips names dim M, which the signature does not declare"],
  ["plan.flow", [0, { loop: { dim: "N", trips: 1 }, body: [1] }],   "plan.flow[1].loop.dim is N, which is taken"],
  ["plan.flow", [0, loop("i", [loop("i", [1])])],                   "plan.flow[1].body[0].loop.dim is i, which is taken"],
  ["plan.flow", [0, { loop: { dim: "i", trips: 1 }, body: [1], step: 2 }], 'plan.flow[1] has the unknown field "step"'],
  ["plan.flow", [0, { if: { in: "slot", index: 1 }, then: [1], else: [] }], "plan.flow[1].if.index is 1 of 1 slots"],
  ["plan.flow", [{ while: { test: [0], flag: { in: "slot", index: 3 } }, body: [1] }], "plan.flow[0].while.flag.index is 3 of 1 slots"],
  ["plan.flow", [{ while: { test: [0], flag: { in: "slot", index: 0 }, most: -1 }, body: [1] }], `plan.flow[0].while.most is -1, ${notCount}`],
  ["plan.flow", deepFlow(17),       `plan.flow[0]${".then[0]".repeat(16)} is nested deeper than 16`],

  ["kernels.0.name", "../evil",     'kernels[0].name is "../evil", not an identifier'],
  ["kernels.1.name", "Scale",       'kernels has "scale" twice'],
  ["kernels.0.name", "evil",        "kernels.js: the text of kernel evil does not begin with function evil("],
  ["kernels.0.dims", ["M"],         "kernels[0].dims[0] names dim M, which the signature does not declare"],
  ["kernels.0.dims", ["x"],         'kernels[0].bindings and dims has "x" twice'],
  ["kernels.0.bindings.0.access", "own", 'kernels[0].bindings[0].access is "own", not one of read, write, readwrite, scratch'],
  ["kernels.0.phases", [],          "kernels[0].phases is not for target js"],
  ["kernels.0.stack", 16,           "kernels[0].stack is not for target js"],
  ["kernels.0.range", [9, 3],       "kernels[0].range is [9,3], not [start, end]"],
  ["kernels.0.range", [9, 9999],    "kernels[0].range ends at 9999, kernels.js has 323 bytes"],
  ["kernels.0.range", undefined,    "kernels[0].range is missing"],

  ["files.0.name", "../kernels.js", 'files[0].name is "../kernels.js", not a file of an artifact'],
  ["files.0.name", "/etc/x.js",     'files[0].name is "/etc/x.js", not a file of an artifact'],
  ["files.1.name", "kernels.js",    'files has "kernels.js" twice'],
  ["files.0.crc32", "1234567",      'files[0].crc32 is "1234567", not eight hex digits'],
  ["files.0.bytes", 1e300,          `files[0].bytes is 1e+300, ${notCount}`],
];

for (const [field, value, message] of cases)
  test(`a forged manifest is refused: ${message.split("\n")[0]}`, () => {
    const got = forged(withValue(field, value));
    assert.is(got, message.startsWith("kernels.js:") ? message : `manifest.json: ${message}`);
  });

// biome-ignore format: one hostile value a row
const wasmCases: readonly [field: string, value: unknown, message: string][] = [
  ["target", "js",                        "kernels[0].phases is not for target js"],
  ["kernels.0.phases", undefined,         "kernels[0].phases is missing"],
  ["kernels.0.phases", [],                "kernels[0].phases is empty"],
  ["kernels.0.phases", {},                "kernels[0].phases is an object, not a list"],
  ["kernels.0.phases.1", { entry: "f" },  "kernels[0].phases[1].units is missing"],
  ["kernels.0.phases.1.threads", 4,       'kernels[0].phases[1] has the unknown field "threads"'],
  ["kernels.0.phases.0.entry", "a b",     'kernels[0].phases[0].entry is "a b", not an identifier with dots'],
  ["kernels.0.phases.0.entry", ".a",      'kernels[0].phases[0].entry is ".a", not an identifier with dots'],
  ["kernels.0.phases.0.entry", "__proto__", 'kernels[0].phases[0].entry is "__proto__", not an identifier with dots'],
  ["kernels.0.phases.0.entry", "shift.pack", 'the phases of kernels has "shift.pack" twice'],
  ["kernels.0.phases.0.units", "M",       "kernels[0].phases[0].units names dim M, which the signature does not declare"],
  ["kernels.0.phases.0.units", -1,        `kernels[0].phases[0].units is -1, ${notCount}`],
  ["kernels.0.phases.0.units", nested(65), `kernels[0].phases[0].units${"[1]".repeat(64)} is nested deeper than 64`],
  ["kernels.0.stack", undefined,          "kernels[0].stack is missing"],
  ["kernels.0.stack", ["/", 1, 0],        `kernels[0].stack is Infinity, ${notCount}`],
  ["kernels.0.stack", ["*", "K", 4],      "kernels[0].stack names dim K, which the signature does not declare"],
  ["files.0.name", "kernels-fast.wasm",   'files[0].name is "kernels-fast.wasm", not a file of an artifact'],
  ["files.0.name", "kernels/scale.wasm",  'files[0].name is "kernels/scale.wasm", not a file of an artifact'],
];

for (const [field, value, message] of wasmCases)
  test(`a forged wasm manifest is refused: ${message}`, () => {
    const files = forge(withValue(field, value), wasmSample);
    assert.is(
      refusal(() => decodeArtifact(files)),
      `manifest.json: ${message}`,
    );
  });

test("a module that is missing, misplaced, or none is refused when written and when read", () => {
  const modules = wasmSample.modules!;
  const written = (a: Artifact) => refusal(() => encodeArtifact(a));
  const { modules: _, ...without } = wasmSample;
  assert.is(written(without), "manifest.json: files does not list kernels.wasm");
  assert.is(written({ ...sample, modules }), "kernels.wasm: target js has no such file");
  const spoiled = (plain: Uint8Array) => written({ ...wasmSample, modules: { ...modules, plain } });
  const notModule = "kernels.wasm: not a WebAssembly module of version 1";
  assert.is(spoiled(new Uint8Array(0)), notModule);
  assert.is(spoiled(modules.plain.with(0, 1)), notModule);
  assert.is(spoiled(modules.plain.with(4, 2)), notModule);
  assert.is(spoiled(modules.plain.subarray(0, 8)), "kernels.wasm: the module is empty");

  const unlist = (m: unknown) => {
    const manifest = m as { files: { name: string }[] };
    manifest.files = manifest.files.filter((f) => f.name !== "kernels-relaxed.wasm");
  };
  const read = (files: Map<string, Uint8Array>) => refusal(() => decodeArtifact(files));
  assert.is(
    read(forge(unlist, wasmSample)),
    "manifest.json: files does not list kernels-relaxed.wasm",
  );
  const files = encodeArtifact(wasmSample);
  files.delete("kernels-relaxed.wasm");
  assert.is(read(files), "kernels-relaxed.wasm: the file is missing");
  const swapped = encodeArtifact(wasmSample).set("kernels.wasm", modules.relaxed);
  assert.match(read(swapped), /^kernels\.wasm: checksum /);
});

test("files that are missing, cut or altered are refused", () => {
  const damaged = (name: string, edit: (b: Uint8Array) => Uint8Array | undefined) => {
    const files = encodeArtifact(sample);
    const bytes = edit(files.get(name)!);
    if (bytes) files.set(name, bytes);
    else files.delete(name);
    return refusal(() => decodeArtifact(files));
  };
  const flip = (b: Uint8Array) => b.with(20, b[20]! ^ 1);
  assert.is(
    damaged("manifest.json", () => undefined),
    "manifest.json: the file is missing",
  );
  assert.is(
    damaged("kernels.js", () => undefined),
    "kernels.js: the file is missing",
  );
  assert.is(
    damaged("kernels.js", (b) => b.slice(0, 100)),
    "kernels.js: 100 bytes, the manifest says 323",
  );
  assert.match(
    damaged("weights.safetensors", flip),
    /^weights\.safetensors: checksum [0-9a-f]{8}, the manifest says [0-9a-f]{8}$/,
  );
  assert.match(
    damaged("manifest.json", (b) => b.with(b.indexOf(109), 110)),
    /^manifest\.json: crc32 is "[0-9a-f]{8}", the bytes before it have "[0-9a-f]{8}"$/,
  );
  assert.match(
    damaged("manifest.json", (b) => b.slice(0, 50)),
    /^manifest\.json: not JSON: /,
  );
  assert.is(
    damaged("manifest.json", (b) => b.with(5, 255)),
    "manifest.json: the text is not UTF-8",
  );
});

const manifestOnly = (text: string | Uint8Array): string => {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  return refusal(() => decodeArtifact(new Map([["manifest.json", bytes]])));
};

test("a manifest that lists no kernels is refused", () => {
  const unlist = (m: unknown) => {
    const manifest = m as { files: { name: string }[] };
    manifest.files = manifest.files.filter((f) => f.name !== "kernels.js");
  };
  assert.is(forged(unlist), "manifest.json: files does not list kernels.js");
});

test("a key that stands twice is refused", () => {
  assert.is(
    manifestOnly('{"version": 1, "plan": {"slots": [], "s\\u006cots": []}}'),
    'manifest.json: key "slots" stands twice',
  );
});

test("JSON that is not an object is refused", () => {
  for (const text of ["null", "1", "[]", '"x"'])
    assert.is(manifestOnly(text), "manifest.json: version is undefined, not a positive integer");
});

test("nesting of any depth is refused without a stack overflow", () => {
  const deep = (n: number) => "[".repeat(n) + "]".repeat(n);
  for (const n of [100, 10_000, 1_000_000]) {
    manifestOnly(deep(n));
    manifestOnly(`{"version": 1, "name": ${deep(n)}}`);
    // Sealed, so that the checks of fields see it.
    const name = { version: 1, target: "js", name: JSON.parse(deep(n)) };
    if (n <= 100) manifestOnly(printManifest(name));
  }
  assert.match(forged(withValue(slotSize, JSON.parse(deep(1000)))), /is a list of 1, not a number/);
});

test("a __proto__ key is refused and changes no prototype", () => {
  const files = encodeArtifact(sample);
  const text = new TextDecoder().decode(files.get("manifest.json"));
  const edited = text.replace('"plan": {', '"__proto__": {"polluted": 1},\n"plan": {');
  assert.ok(edited !== text);
  const { crc32: _, ...value } = JSON.parse(edited) as Record<string, unknown>;
  files.set("manifest.json", printManifest(value));
  const message = refusal(() => decodeArtifact(files));
  assert.is(message, 'manifest.json: the manifest has the unknown field "__proto__"');
  assert.is(({} as { polluted?: number }).polluted, undefined);
});

test("a giant list is refused before it is looked at", () => {
  const a = withValue("plan.slots", Array(2 ** 20 + 1).fill(0));
  assert.is(forged(a), "manifest.json: plan.slots has 1048577 elements, more than 1048576");
});

test("a webgpu kernel needs three workgroup counts", () => {
  const a: Artifact = {
    ...sample,
    target: "webgpu",
    kernels: sample.kernels.map((k) => ({ ...k, workgroups: [1, 1, 1] })),
  };
  const refused = (value: unknown) =>
    refusal(() => decodeArtifact(forge(withValue("kernels.0.workgroups", value), a)));
  assert.is(refused(undefined), "manifest.json: kernels[0].workgroups is missing");
  assert.is(refused([1, 1]), "manifest.json: kernels[0].workgroups is [1,1], not three extents");
});

test.run();
