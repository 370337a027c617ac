/** Every message of the runtime, verbatim. */
import type { Artifact } from "@kiln-ml/artifact";
import {
  ArtifactError,
  DeviceError,
  DtypeError,
  type KilnError,
  ShapeError,
} from "@kiln-ml/artifact";
import {
  createCpuDevice,
  type Input,
  initialStates,
  load,
  type TypedArray,
} from "@kiln-ml/runtime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { accumulation, addition, artifact, chain, kernel, place } from "./artifacts.ts";

const device = createCpuDevice();
const f32 = (...x: number[]) => Float32Array.from(x);

async function fails(
  action: () => unknown,
  Class: new (message: string) => KilnError,
  message: string,
): Promise<void> {
  let error: unknown;
  try {
    await action();
  } catch (caught) {
    error = caught;
  }
  assert.instance(error, Class);
  assert.is((error as Error).message, message);
}

const run = async (program: Artifact, inputs: Input[]) =>
  (await load(program, device, { states: [] })).run(inputs);

/** An artifact that only has a signature. */
const takes = (
  dims: Artifact["signature"]["dims"],
  ...inputs: [string, ...(string | number)[]][]
) =>
  artifact({
    signature: {
      dims,
      inputs: inputs.map(([name, ...shape]) => ({ name, dtype: "f32", shape })),
      outputs: [],
      states: [],
    },
  });

const up = (...shape: number[]) =>
  device.upload(new Float32Array(shape.reduce((a, b) => a * b, 1)), "f32", shape);

test("run: the number of inputs", () =>
  fails(
    () => run(addition("js"), [f32(1)]),
    ShapeError,
    "run: program takes 2 inputs (x, y), got 1\n  pass one for each, in that order",
  ));

test("run: the dtype of an input", async () => {
  await fails(
    () => run(addition("js"), [Int32Array.of(1), f32(1)]),
    DtypeError,
    "run: input x is f32, which takes a Float32Array, got Int32Array\n  copy it into such an array: new Float32Array(x) for f32",
  );
  await fails(
    () => run(addition("js"), [f32(1), device.upload([1], "i32", [1])]),
    DtypeError,
    "run: input y must be f32, got i32\n  convert it, or declare that dtype in inputs",
  );
});

test("run: an input that is no array", () =>
  fails(
    () => run(addition("js"), [3 as unknown as TypedArray, f32(1)]),
    DtypeError,
    "run: input x is f32, which takes a Float32Array, got Number\n  copy it into such an array: new Float32Array(x) for f32",
  ));

test("write: elements that do not fit", async () => {
  await fails(
    () => up(2).write([1]),
    ShapeError,
    "write: shape [2] has 2 elements, the host array 1\n  give data and shape as many elements",
  );
  await fails(
    () => up(1).write(Int32Array.of(1)),
    DtypeError,
    "write: the array is f32, which takes a Float32Array, got Int32Array\n  copy it into such an array: new Float32Array(x) for f32",
  );
});

test("run: the rank and the extents of an input", async () => {
  const dims = [{ name: "N", min: 1, max: null }];
  await fails(
    () => run(takes(dims, ["x", "N", 4]), [up(2)]),
    ShapeError,
    "run: input x must have shape [N,4], got [2]\n  reshape it, or declare that axis as a symbol and compile again",
  );
  await fails(
    () => run(takes(dims, ["x", "N", 4]), [up(2, 3)]),
    ShapeError,
    "run: input x must have shape [N,4] = [2,4], got [2,3]\n  reshape it, or declare that axis as a symbol and compile again",
  );
  await fails(
    () => run(takes([], ["x", 2]), [up(3)]),
    ShapeError,
    "run: input x must have shape [2], got [3]\n  reshape it, or declare that axis as a symbol and compile again",
  );
});

test("run: an extent that follows from a dim", async () => {
  const program = artifact({
    signature: {
      dims: [{ name: "N", min: 0, max: null }],
      inputs: [
        { name: "x", dtype: "f32", shape: ["N"] },
        { name: "y", dtype: "f32", shape: [["+", ["*", 2, "N"], 1]] },
      ],
      outputs: [],
      states: [],
    },
  });
  await run(program, [up(3), up(7)]);
  await fails(
    () => run(program, [up(3), up(6)]),
    ShapeError,
    "run: input y must have shape [2*N+1] = [7], got [6]\n  reshape it, or declare that axis as a symbol and compile again",
  );
});

test("run: a dim with two values", () =>
  fails(
    () => run(addition("js"), [up(2), up(3)]),
    ShapeError,
    "run: dim N is 2 in input x [N] and 3 in input y [N]\n  pass inputs that agree on it",
  ));

test("run: a dim out of its bounds", async () => {
  await fails(
    () => run(takes([{ name: "N", min: 1, max: 8 }], ["x", "N"]), [up(9)]),
    ShapeError,
    "run: dim N must be between 1 and 8, is 9 in input x [N]\n  pass an extent of that range, or declare the dim with other bounds and compile again",
  );
  await fails(
    () => run(takes([{ name: "N", min: 1, max: null }], ["x", "N"]), [up(0)]),
    ShapeError,
    "run: dim N must be at least 1, is 0 in input x [N]\n  pass an extent of that range, or declare the dim with other bounds and compile again",
  );
});

test("run: a dim that no input has", () =>
  fails(
    () => run(takes([{ name: "N", min: 1, max: null }], ["x", 1]), [up(1)]),
    ArtifactError,
    "run: dim N is the extent of no input\n  compile it again: the artifact is damaged",
  ));

test("run: a bare host array of the wrong length", async () => {
  const dims = [
    { name: "M", min: 1, max: null },
    { name: "N", min: 1, max: null },
  ];
  await fails(
    () => run(takes(dims, ["x", "M", "N"]), [f32(1, 2, 3)]),
    ShapeError,
    "run: input x [M,N] does not follow from a host array of 3 elements\n  pass { data, shape }",
  );
  await run(takes(dims, ["x", "M", "N"]), [{ data: f32(1, 2, 3), shape: [3, 1] }]);
  await fails(
    () => run(takes([], ["x", 2, 2]), [f32(1, 2, 3)]),
    ShapeError,
    "run: input x [2,2] has 4 elements, the host array 3\n  pass { data, shape } with as many elements",
  );
});

test("run: arrays that are freed or elsewhere", async () => {
  const freed = up(2);
  freed.dispose();
  await fails(
    () => freed.data(),
    DeviceError,
    "data: f32[2] was freed\n  keep it until the last use, or dispose of it later",
  );
  await fails(
    () => run(addition("js"), [freed, freed]),
    DeviceError,
    "run: input x: f32[2] was freed\n  keep it until the last use, or dispose of it later",
  );
  const other = createCpuDevice().upload([1], "f32", [1]);
  await fails(
    () => run(addition("js"), [other, f32(1)]),
    DeviceError,
    "run: input x is on another device\n  pass host data, or upload it to this device",
  );
});

test("item: more than one element", () =>
  fails(
    () => up(2).item(),
    ShapeError,
    "item: array must have one element, [2] has 2\n  read all of them with data()",
  ));

test("upload: counts and arrays that do not fit", async () => {
  await fails(
    () => device.upload([1, 2], "f32", [3]),
    ShapeError,
    "upload: shape [3] has 3 elements, the host array 2\n  give data and shape as many elements",
  );
  await fails(
    () => device.upload([1, 2], "f32", [-1, -2]),
    ShapeError,
    "upload: extents must be non-negative integers, got [-1,-2]\n  give whole numbers of 0 or more",
  );
  await fails(
    () => device.upload(new Float64Array(1), "f16", [1]),
    DtypeError,
    "upload: the array is f16, which takes a Uint16Array, got Float64Array\n  copy it into such an array: new Float32Array(x) for f32",
  );
  await fails(
    () => device.upload(null as unknown as TypedArray, "f32", [1]),
    DtypeError,
    "upload: the array is f32, which takes a Float32Array, got null\n  copy it into such an array: new Float32Array(x) for f32",
  );
});

test("destroy: every later call is refused", async () => {
  const gone = createCpuDevice();
  const x = gone.upload([1], "f32", [1]);
  const program = await load(addition("js"), gone, { states: [] });
  gone.destroy();
  assert.is((await gone.lost).reason, "destroyed");
  await fails(
    () => x.data(),
    DeviceError,
    "data: the device was destroyed\n  open a device again, and load the artifact on it",
  );
  await fails(
    () => gone.upload([1], "f32", [1]),
    DeviceError,
    "upload: the device was destroyed\n  open a device again, and load the artifact on it",
  );
  await fails(
    () => program.run([x, x]),
    DeviceError,
    "run: the device was destroyed\n  open a device again, and load the artifact on it",
  );
  await fails(
    () => load(addition("js"), gone, { states: [] }),
    DeviceError,
    "load: the device was destroyed\n  open a device again, and load the artifact on it",
  );
});

const loads = (parts: Parameters<typeof artifact>[0]) =>
  load(artifact(parts), device, { states: [] });

test("load: version, target, limits and features", async () => {
  await fails(
    () => loads({ version: 99 }),
    ArtifactError,
    "load: artifact has version 99, this runtime reads 1\n  compile it again",
  );
  await fails(
    () => loads({ target: "webgpu" }),
    DeviceError,
    "load: artifact is compiled for webgpu, the cpu device runs js\n  compile it for this target, or open a device of the other",
  );
  await fails(
    () => loads({ limits: { maxBufferSize: 8 } }),
    DeviceError,
    "load: artifact needs maxBufferSize 8, the device has none\n  compile it for the limits of this device, or take another adapter",
  );
  await fails(
    () => loads({ features: ["shader-f16"] }),
    DeviceError,
    "load: artifact needs shader-f16, which the device lacks\n  compile it without that feature, or take another adapter",
  );
});

test("load: plans that name what is not there", async () => {
  const kernels = [kernel("double", "js", null)];
  const step = { kernel: 0, args: [place("slot"), place("slot", 1)], bytes: 0, flops: 0 };
  const slots = [{ sizes: [4] }];
  await fails(
    () => loads({ kernels, plan: { slots, steps: [step], copies: [] } }),
    ArtifactError,
    "load: step 0 names slot 1, of which there is none\n  compile it again: the artifact is damaged",
  );
  await fails(
    () => loads({ plan: { slots, steps: [step], copies: [] } }),
    ArtifactError,
    "load: step 0 names kernel 0 of 0\n  compile it again: the artifact is damaged",
  );
  await fails(
    () => loads({ kernels, plan: { slots, steps: [{ ...step, args: [] }], copies: [] } }),
    ArtifactError,
    "load: step 0 passes 0 places, kernel double binds 2\n  compile it again: the artifact is damaged",
  );
  const copies = [{ from: place("slot"), to: place("output"), bytes: 4 }];
  await fails(
    () => loads({ plan: { slots, steps: [], copies } }),
    ArtifactError,
    "load: copy 0 names output 0, of which there is none\n  compile it again: the artifact is damaged",
  );
});

test("load: kernels that are not there or do not parse", async () => {
  await fails(
    () => load(addition("js"), device, { states: [], kernels: {} }),
    ArtifactError,
    "load: the kernel module exports no function add\n  pass the kernels.js that lies beside this manifest",
  );
  await fails(
    () => loads({ kernels: [{ name: "f", text: "function f(", bindings: [], dims: [] }] }),
    ArtifactError,
    "load: kernel f does not parse: Unexpected token 'return'\n  compile it again, or copy it again: the file is damaged",
  );
});

test("load: options may be left out, or be empty, where there are no states", async () => {
  await load(addition("js"), device);
  await load(addition("js"), device, {});
  await fails(
    () => load(chain("js"), device),
    ShapeError,
    "load: the number of states of chain is 1, got 0\n  pass one array for each state: initialStates(artifact, device)",
  );
  await fails(
    () => load(chain("js"), device, {}),
    ShapeError,
    "load: the number of states of chain is 1, got 0\n  pass one array for each state: initialStates(artifact, device)",
  );
});

test("load: states that do not fit", async () => {
  const given = (...states: ReturnType<typeof up>[]) => load(chain("js"), device, { states });
  await fails(
    () => given(),
    ShapeError,
    "load: the number of states of chain is 1, got 0\n  pass one array for each state: initialStates(artifact, device)",
  );
  await fails(
    () => given(up(2, 3)),
    ShapeError,
    "load: state w must have shape [3,2], got [2,3]\n  upload it with the shape of the signature",
  );
  await fails(
    () => given(device.upload([1], "i32", [1])),
    DtypeError,
    "load: state w must be f32, got i32\n  upload it with the dtype of the signature",
  );
  await fails(
    () => given(createCpuDevice().upload(new Float32Array(6), "f32", [3, 2])),
    DeviceError,
    "load: state w is on another device\n  upload it to the device that loads the artifact",
  );
});

test("initialStates: weights that are missing or do not fit", async () => {
  await fails(
    () => initialStates(chain("js"), device),
    ArtifactError,
    "initialStates: chain carries no weights for w\n  pass states of your own to load",
  );
  const short = { dtype: "f32", shape: [3, 2], data: new Uint8Array(8) } as const;
  await fails(
    () => initialStates({ ...chain("js"), weights: { w: short } }, device),
    ArtifactError,
    "load: w f32[3,2] needs 24 bytes, has 8\n  compile it again: the artifact is damaged",
  );
  const total = { dtype: "i32", shape: [4], data: new Uint8Array(16) } as const;
  await fails(
    () => initialStates({ ...accumulation("js"), weights: { total } }, device),
    ArtifactError,
    "initialStates: total is f32[4], its weight i32[4]\n  compile it again: the artifact is damaged",
  );
});

test.run();
