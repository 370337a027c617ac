/** Hand-written artifacts for the runtime's tests: a few kernels as JavaScript and as WGSL, no compiler. */
import type { Artifact, BufferRef, KernelText, TargetName } from "@kiln-ml/artifact";
import { artifactVersion } from "@kiln-ml/artifact";

export const place = (space: BufferRef["in"], index = 0): BufferRef => ({ in: space, index });

/** An artifact with everything empty but what `parts` gives. */
export function artifact(parts: Partial<Artifact> & { target?: TargetName }): Artifact {
  return {
    version: artifactVersion,
    target: "js",
    name: "test",
    signature: { dims: [], inputs: [], outputs: [], states: [] },
    kernels: [],
    plan: { slots: [], steps: [], copies: [] },
    constants: [],
    weights: {},
    limits: {},
    features: [],
    ...parts,
  };
}

const f32 = (names: string) =>
  names.split(" ").map((n): KernelText["bindings"][number] => {
    const [name, access = "read"] = n.split(":") as [string, "read" | "write" | "readwrite"];
    return { name, dtype: "f32", access };
  });

const js: Record<string, string> = {
  add: `function add(x, y, out, n) { for (let i = 0; i < n; i++) out[i] = x[i] + y[i]; }`,
  matmul: `function matmul(x, w, out, n) {
  for (let i = 0; i < n; i++)
    for (let j = 0; j < 2; j++) {
      let sum = 0;
      for (let k = 0; k < 3; k++) sum += x[i * 3 + k] * w[k * 2 + j];
      out[i * 2 + j] = sum;
    }
}`,
  double: `function double(x, out, n) { for (let i = 0; i < n; i++) out[i] = 2 * x[i]; }`,
  accumulate: `function accumulate(x, total) { for (let i = 0; i < 4; i++) total[i] += x[i]; }`,
};

const head = (names: string, dims: boolean) => {
  const lines = names.split(" ").map((n, i) => {
    const [name, access] = n.split(":");
    return `@group(0) @binding(${i}) var<storage, ${access ? "read_write" : "read"}> ${name}: array<f32>;`;
  });
  if (dims) {
    lines.push("struct Dims { n: i32 }");
    lines.push(`@group(0) @binding(${lines.length - 1}) var<uniform> dims: Dims;`);
  }
  return lines.join("\n");
};

const bindingsOf: Record<string, string> = {
  add: "x y out:write",
  matmul: "x w out:write",
  double: "x out:write",
  accumulate: "x total:readwrite",
};

const main = (limit: string, body: string) => `
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = i32(id.x);
  if (i >= ${limit}) { return; }
  ${body}
}`;

const wgsl: Record<string, string> = {
  add: main("dims.n", "out[i] = x[i] + y[i];"),
  matmul: main(
    "2 * dims.n",
    "var sum = 0.0; for (var k = 0; k < 3; k++) { sum += x[i / 2 * 3 + k] * w[k * 2 + i % 2]; } out[i] = sum;",
  ),
  double: main("dims.n", "out[i] = 2.0 * x[i];"),
  accumulate: main("4", "total[i] += x[i];"),
};

/** The kernel `name` of the tables above. `n` is the symbol passed as its dim. */
export function kernel(name: string, target: TargetName, n: string | null = "N"): KernelText {
  const bindings = bindingsOf[name]!;
  const dims = n === null ? [] : [n];
  if (target === "js") return { name, text: js[name]!, bindings: f32(bindings), dims };
  const text = head(bindings, n !== null) + wgsl[name]!;
  const groups = ["/", ["+", n ?? 4, 63], 64] as const;
  return { name, text, bindings: f32(bindings), dims, workgroups: [groups, 1, 1] };
}

/** y[N,2] = x[N,3]·w with w a state: matmul into a slot, copied to the output. */
export function chain(target: TargetName): Artifact {
  const rows = ["*", "N", 2] as const;
  const bytes = ["*", "N", 8] as const;
  return artifact({
    target,
    name: "chain",
    signature: {
      dims: [{ name: "N", min: 0, max: 1000 }],
      inputs: [{ name: "x", dtype: "f32", shape: ["N", 3] }],
      outputs: [{ name: "y", dtype: "f32", shape: ["N", 2] }],
      states: [{ name: "w", dtype: "f32", shape: [3, 2], trainable: true, written: false }],
    },
    kernels: [
      {
        ...kernel("matmul", target),
        ...(target === "js" ? {} : { workgroups: [["/", ["+", rows, 63], 64], 1, 1] }),
      },
    ],
    plan: {
      slots: [{ sizes: [bytes] }],
      steps: [
        { kernel: 0, args: [place("input"), place("state"), place("slot")], bytes, flops: rows },
      ],
      copies: [{ from: place("slot"), to: place("output"), bytes }],
    },
  });
}

/** out = x + y over [N]. */
export function addition(target: TargetName): Artifact {
  return artifact({
    target,
    name: "addition",
    signature: {
      dims: [{ name: "N", min: 0, max: null }],
      inputs: [
        { name: "x", dtype: "f32", shape: ["N"] },
        { name: "y", dtype: "f32", shape: ["N"] },
      ],
      outputs: [{ name: "sum", dtype: "f32", shape: ["N"] }],
      states: [],
    },
    kernels: [kernel("add", target)],
    plan: {
      slots: [],
      steps: [
        {
          kernel: 0,
          args: [place("input", 0), place("input", 1), place("output")],
          bytes: ["*", "N", 12],
          flops: "N",
        },
      ],
      copies: [],
    },
  });
}

/** total += x over [4], and the new total as an output. */
export function accumulation(target: TargetName): Artifact {
  return artifact({
    target,
    name: "accumulation",
    signature: {
      dims: [],
      inputs: [{ name: "x", dtype: "f32", shape: [4] }],
      outputs: [{ name: "after", dtype: "f32", shape: [4] }],
      states: [{ name: "total", dtype: "f32", shape: [4], trainable: false, written: true }],
    },
    kernels: [kernel("accumulate", target, null)],
    plan: {
      slots: [],
      steps: [{ kernel: 0, args: [place("input"), place("state")], bytes: 48, flops: 4 }],
      copies: [{ from: place("state"), to: place("output"), bytes: 16 }],
    },
    weights: {
      total: { dtype: "f32", shape: [4], data: new Uint8Array(Float32Array.of(1, 2, 3, 4).buffer) },
    },
  });
}
