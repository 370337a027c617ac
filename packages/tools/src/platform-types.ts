/**
 * Declarations name types of the platform, URL and AbortSignal among them, which a project that has
 * neither the types of pages nor those of Node lacks. Each file that names one gets it as an alias:
 * the platform's own where there is one, anything else.
 */

/** A type of the platform by the value of its name, whose prototype it is. */
const ofPrototype = (name: string): string =>
  `type ${name} = typeof globalThis extends { ${name}: { prototype: infer T } } ? T : any;`;

const inWasm = (name: string): string =>
  `  type ${name} = typeof globalThis extends { WebAssembly: { ${name}: { prototype: infer T } } } ? T : any;`;

/** Older versions of TypeScript do not have them among the types of pages. */
const gpuClasses = [
  "GPUBindGroup",
  "GPUBindGroupLayout",
  "GPUBuffer",
  "GPUCommandEncoder",
  "GPUComputePassEncoder",
  "GPUComputePipeline",
  "GPUDevice",
];

/** As much of each name as our declarations use. */
const platform: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ["AbortSignal", "Blob", "Response", "URL", ...gpuClasses].map((name) => [
      name,
      ofPrototype(name),
    ]),
  ),
  GPUComputePassDescriptor:
    "type GPUComputePassDescriptor = typeof globalThis extends { GPUCommandEncoder: { prototype: { beginComputePass(pass?: infer T): any } } } ? NonNullable<T> : any;",
  RequestInit:
    "type RequestInit = typeof globalThis extends { Request: { new (input: any, init?: infer T): any } } ? NonNullable<T> : any;",
  WebAssembly: ["declare namespace WebAssembly {", ...["Memory", "Module"].map(inWasm), "}"].join(
    "\n",
  ),
};

const comment = /\/\*[\s\S]*?\*\/|\/\/.*/g;

/** The text of a file of declarations, with what it names of the platform. */
export function withPlatformTypes(text: string): string {
  const code = text.replace(comment, "");
  const named = Object.keys(platform).filter(
    (name) =>
      new RegExp(`(?<![.\\w"'])${name}(?![\\w"'])`).test(code) &&
      !new RegExp(`(class|interface|type|namespace) ${name}\\b`).test(code),
  );
  if (named.length === 0) return text;
  const aliases = named.map((name) => platform[name]);
  // Without the last line, all that a file of declarations declares would be exported.
  return `${text.trimEnd()}\n${aliases.join("\n")}\nexport {};\n`;
}
