/**
 * A kernel of the user as a WGSL module: a line of workgroups, folded where one axis holds too few.
 */
import type { KernelText } from "@kiln-ml/artifact";
import { ceilDiv, DtypeError, minDim } from "@kiln-ml/ir";
import { toExtent } from "../../kernel/extent.ts";
import type { CustomText, Kernel } from "../../kernel/kernel.ts";
import { dimName, type ExtentLanguage, extentText, linesOf, sizeLines } from "../custom-text.ts";
import { indented } from "../scope.ts";
import { bindingsOf } from "../target-language.ts";

const language: ExtentLanguage = {
  define: "let",
  divide: (a, b) => `(${a} / ${b})`,
  pick: (which, a, b) => `${which}(${a}, ${b})`,
  list: (items) => `array<i32, ${items.length}>(${items.join(", ")})`,
};

/** Workgroups along one axis that every device has (WebGPU 3.6.2). */
const most = 65535;

function bindingLines({ name, params, dims }: Kernel, names: readonly string[]): string[] {
  return [
    ...params.map((p, i) => {
      if (p.dtype === "f64")
        throw new DtypeError(`emit: ${names[i]} of ${name} is f64 on target webgpu`);
      const mode = p.access === "read" ? "read" : "read_write";
      return `@group(0) @binding(${i}) var<storage, ${mode}> ${names[i]}: array<${p.dtype}>;`;
    }),
    ...(dims.length
      ? [
          "struct Dims {",
          ...dims.map((d) => `  ${dimName(d)}: i32,`),
          "}",
          `@group(0) @binding(${params.length}) var<uniform> dims: Dims;`,
        ]
      : []),
  ];
}

export function customWgsl(kernel: Kernel, custom: CustomText): KernelText {
  const { params, dims, workgroupSize } = kernel;
  const groups = ceilDiv(custom.threads, workgroupSize);
  const names = params.map((_, i) => custom.arrays.find((a) => a.param === i)!.name);
  const lines = [
    ...bindingLines(kernel, names),
    "",
    `@compute @workgroup_size(${workgroupSize})`,
    "fn main(",
    "  @builtin(local_invocation_index) invocation: u32,",
    "  @builtin(workgroup_id) workgroup: vec3<u32>,",
    ") {",
    ...indented([
      // A binding that the text does not mention would be missing from an automatic layout.
      ...names.map((name) => `_ = &${name};`),
      ...dims.map((d) => `let ${dimName(d)} = dims.${dimName(d)};`),
      ...sizeLines(custom, language),
      `let threads = ${extentText(custom.threads, language)};`,
      `let i = (i32(workgroup.y) * ${most} + i32(workgroup.x)) * ${workgroupSize} + i32(invocation);`,
      "if (i >= threads) { return; }",
      ...custom.arrays.flatMap(({ name, param }) =>
        name === names[param] ? [] : [`let ${name} = &${names[param]};`],
      ),
      ...linesOf(custom.text),
    ]),
    "}",
    "",
  ];
  return {
    name: kernel.name,
    text: lines.join("\n"),
    bindings: bindingsOf(kernel),
    dims,
    workgroups: [toExtent(minDim(groups, most)), toExtent(ceilDiv(groups, most)), 1],
  };
}
