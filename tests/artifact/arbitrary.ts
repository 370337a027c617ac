/**
 * Arbitrary artifacts: any names, dtypes, shapes and extents that satisfy the rules of the types. Its kernels
 * do nothing. No tests here.
 */
import fc from "fast-check";
import {
  type Artifact,
  type BufferRef,
  type Constant,
  type Extent,
  storageBytes,
} from "../../packages/artifact/src/index.ts";

const dtype = fc.constantFrom("f64", "f32", "f16", "bf16", "i32", "u32", "i8", "u8", "bool");
const identifier = fc
  .stringMatching(/^[a-z_][a-z0-9_]{0,8}$/)
  .filter((s) => !(s in {}) && s !== "N" && s !== "M");
const tensorName = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 12 })
  .filter((s) => /^[^\p{C}\\]+$/u.test(s) && !/(^|\/)\.\.(\/|$)/.test(s) && !(s in {}));
const distinctNames = (name: fc.Arbitrary<string>, max: number) =>
  fc.uniqueArray(name, { maxLength: max });
const plain = { noNullPrototype: true } as const;
const smallShape = fc.array(fc.nat(3), { maxLength: 3 });

const { extent } = fc.letrec<{ extent: Extent }>((tie) => ({
  extent: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.nat(1000),
    fc.constantFrom("N", "M"),
    fc.tuple(fc.constantFrom("+", "*", "min", "max"), tie("extent"), tie("extent")),
    fc.tuple(fc.constantFrom("/", "%"), tie("extent"), fc.integer({ min: 1, max: 9 })),
  ) as fc.Arbitrary<Extent>,
}));

const tensor: fc.Arbitrary<Constant> = fc.tuple(dtype, smallShape).chain(([d, shape]) => {
  const length = shape.reduce((n, x) => n * x, storageBytes(d, "js"));
  return fc
    .uint8Array({ minLength: length, maxLength: length, max: d === "bool" ? 1 : 255 })
    .map((data) => ({ dtype: d, shape, data }));
});

/** Tensors by name. */
export const anyTensors: fc.Arbitrary<Record<string, Constant>> = fc.dictionary(
  tensorName,
  tensor,
  {
    maxKeys: 6,
    noNullPrototype: true,
  },
);

/** Any bytes behind those that a module begins with. */
const anyModule = fc
  .uint8Array({ minLength: 1, maxLength: 20 })
  .map((rest) => new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, ...rest]));

const spec = (name: string) =>
  fc.record(
    {
      name: fc.constant(name),
      dtype,
      shape: fc.array(fc.oneof(fc.nat(9), fc.constantFrom("N", "M")), { maxLength: 3 }),
    },
    plain,
  );
const state = (name: string) =>
  fc.record(
    {
      name: fc.constant(name),
      value: tensor,
      trainable: fc.boolean(),
      written: fc.boolean(),
      hasWeight: fc.boolean(),
    },
    plain,
  );

const parts = fc
  .record({
    inputs: distinctNames(tensorName, 3),
    outputs: distinctNames(tensorName, 3),
    states: distinctNames(tensorName, 3),
  })
  .chain((names) =>
    fc.record({
      target: fc.constantFrom("js" as const, "wasm" as const, "webgpu" as const),
      inputs: fc.tuple(...names.inputs.map(spec)),
      outputs: fc.tuple(...names.outputs.map(spec)),
      states: fc.tuple(...names.states.map(state)),
      kernelNames: distinctNames(identifier, 4),
      body: fc.string({ unit: "grapheme" }),
      constants: fc.array(tensor, { maxLength: 12 }),
      slots: fc.array(fc.array(extent, { minLength: 1, maxLength: 2 }), {
        minLength: 1,
        maxLength: 3,
      }),
      name: tensorName,
      bytes: extent,
      modules: fc.record({ plain: anyModule, relaxed: anyModule }, plain),
      access: fc.constantFrom("write" as const, "readwrite" as const, "scratch" as const),
      starts: fc.boolean(),
    }),
  );

const phasesOf = (name: string, units: readonly Extent[]) =>
  units.map((u, i) => ({ entry: `${name}.${i}`, units: u }));

/** Every output and written state is an argument of each kernel, as are one slot, input and constant. */
export const anyArtifact: fc.Arbitrary<Artifact> = parts.map((p): Artifact => {
  const bound = { name: "dims", dtype: "f32" as const, shape: ["N", "M"] };
  const inputs = [bound, ...p.inputs.filter((s) => s.name !== bound.name)];
  const places: BufferRef[] = [{ in: "input", index: 0 }];
  if (p.constants.length > 0) places.push({ in: "constant", index: p.constants.length - 1 });
  const readOnly = places.length;
  places.push({ in: "slot", index: p.slots.length - 1 });
  p.outputs.forEach((_, index) => {
    places.push({ in: "output", index });
  });
  p.states.forEach((s, index) => {
    if (s.written) places.push({ in: "state", index });
  });
  const bindings = places.map((_, i) => ({
    name: `p${i}_`,
    dtype: "f32" as const,
    access: i < readOnly ? ("read" as const) : p.access,
  }));
  const gpu = p.target === "webgpu";
  const wasm = p.target === "wasm";
  const kernels = [...p.kernelNames, "last_one"].map((name) => ({
    name,
    text: wasm ? "" : `${gpu ? "" : `function ${name}(`}) { /* ${p.body} */ }`,
    bindings,
    dims: ["N"],
    ...(gpu ? { workgroups: [p.bytes, 1, 1] as const } : {}),
    ...(wasm ? { phases: phasesOf(name, p.slots[0]!), stack: p.bytes } : {}),
  }));
  return {
    version: 1,
    target: p.target,
    name: p.name,
    signature: {
      dims: [
        { name: "N", min: 0, max: 8 },
        { name: "M", min: 1, max: null },
      ],
      inputs,
      outputs: p.outputs,
      states: p.states.map(({ name, value, trainable, written }) => ({
        name,
        dtype: value.dtype,
        shape: value.shape,
        trainable,
        written,
      })),
    },
    kernels,
    ...(wasm ? { modules: p.modules } : {}),
    plan: {
      slots: p.slots.map((sizes) => ({ sizes })),
      steps: kernels.map((_, kernel) => ({
        kernel,
        args: places,
        ...(p.starts && p.target !== "webgpu" ? { starts: places.map((_, i) => 8 * i) } : {}),
        bytes: p.bytes,
        flops: 0,
      })),
      copies: p.outputs.map((_, index) => ({
        from: { in: "input", index: 0 },
        to: { in: "output", index },
        bytes: p.bytes,
      })),
    },
    constants: p.constants,
    weights: Object.fromEntries(
      p.states.filter((s) => s.hasWeight).map((s) => [s.name, s.value] as const),
    ),
    limits: gpu ? { maxBufferSize: 1 << 28 } : {},
    features: gpu ? ["shader-f16"] : [],
  };
});
