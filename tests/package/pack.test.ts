/**
 * The packages as a user installs them: plain JavaScript, TypeScript and a page, with nothing of
 * the repository.
 */
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { browserTest, pageOf, resultOf, withPage } from "../support/browser.ts";
import { installedProject } from "./install.ts";

// Here and not in a hook: uvu swallows what a hook throws.
const project = installedProject();

interface Exporting {
  readonly exports?: Readonly<Record<string, { readonly types?: string } | string>>;
}

/** TypeScript checks these files and all declarations that they come to; without any of Node. */
function typed(files: readonly string[], lib: readonly string[]): void {
  const compilerOptions = {
    target: "es2022",
    lib,
    module: "nodenext",
    strict: true,
    noEmit: true,
    types: [],
    skipLibCheck: false,
  };
  project.write("tsconfig.json", JSON.stringify({ compilerOptions, files }));
  project.node(resolve("node_modules/typescript/bin/tsc"), "-p", ".");
}

/** Everything that a program may import from an installed package. */
function entriesOf(name: string): string[] {
  const path = join(project.folder, "node_modules", name, "package.json");
  const { exports = {} }: Exporting = JSON.parse(readFileSync(path, "utf8"));
  return Object.keys(exports)
    .filter((entry) => entry !== "./package.json")
    .map((entry) => name + entry.slice(1));
}

test("the tarballs install offline: they depend only on each other and on what is locked here", () => {
  for (const name of project.packages) {
    assert.ok(existsSync(join(project.folder, "node_modules", name, "dist/index.js")), name);
  }
});

test("tarballs hold no sources, tests or configuration", () => {
  for (const name of project.packages) {
    const folder = join(project.folder, "node_modules", name);
    for (const path of ["src", "tests", "tsconfig.json"]) {
      assert.not(existsSync(join(folder, path)), `${name} holds ${path}`);
    }
  }
});

test("plain JavaScript imports every package", () => {
  const imports = project.packages.map((name) => `await import(${JSON.stringify(name)});`);
  project.write("all.js", `${imports.join("\n")}\nconsole.log("imported");\n`);
  assert.is(project.node("all.js"), "imported\n");
});

test("the errors of kiln-ml's parts are one class each", () => {
  project.write(
    "errors.js",
    `import * as ir from "@kiln-ml/ir";
import { ShapeError } from "@kiln-ml/ir/errors";
console.log(ir.ShapeError === ShapeError);
`,
  );
  assert.is(project.node("errors.js"), "true\n");
});

test("TypeScript checks a program, declarations included", () => {
  const entries = project.packages.flatMap(entriesOf);
  // Those that only a target's own page would name, too.
  for (const entry of ["run-js", "run-wasm", "run-webgpu"])
    assert.ok(entries.includes(`@kiln-ml/runtime/${entry}`), entry);
  const imports = entries.map((name, i) => `import * as p${i} from ${JSON.stringify(name)};`);
  const keys = entries.map((_, i) => `...Object.keys(p${i})`);
  const text = `${imports.join("\n")}\nexport const names: string[] = [${keys.join(", ")}];\n`;
  project.write("program.ts", text);
  typed(["program.ts"], ["es2023", "dom"]);
});

/** What a page writes that only runs artifacts: each name, and that it has types and is not any. */
const runsOne = (entry: string, open: string, wrong: string): string => `
import { loadFromUrl } from "@kiln-ml/artifact";
import { type Device, type Executable, initialStates, load, ${open} } from "${entry}";
export async function run(url: string): Promise<ArrayLike<number>> {
  const device: Device = await ${open}();
  const { artifact, kernels } = await loadFromUrl(url);
  const states = initialStates(artifact, device);
  const program: Executable = await load(artifact, device, { states, kernels });
  const [y] = await program.run([{ data: Float32Array.of(1, 2), shape: [2] }]);
  return y!.data();
}
// @ts-expect-error
${open}(${wrong});
`;

test("a program that runs one target by its own entry is typed, with types of pages and without", () => {
  const programs = {
    "run-js": runsOne("@kiln-ml/runtime/run-js", "createCpuDevice", "5"),
    "run-wasm": runsOne("@kiln-ml/runtime/run-wasm", "createWasmDevice", '{ threads: "two" }'),
    "run-webgpu": runsOne("@kiln-ml/runtime/run-webgpu", "openWebGpu", "{ powerPreference: 5 }"),
  };
  const files = Object.entries(programs).map(([name, text]) => {
    project.write(`${name}.ts`, text);
    return `${name}.ts`;
  });
  typed(files, ["es2022"]);
  typed(files, ["es2022", "dom"]);
});

test("declarations need no types of pages or of Node, and take them where they are", () => {
  const paths = ["", "/model", "/runtime", "/artifact", "/ir", "/train", "/data", "/worker"];
  const imports = paths.map((path, i) => `import * as p${i} from "kiln-ml${path}";`);
  const uses = `export const names = [${paths.map((_, i) => `p${i}`)}].flatMap(Object.keys);`;
  project.write("bare.ts", `${imports.join("\n")}\n${uses}\n`);
  typed(["bare.ts"], ["es2022"]);
  // A signal is the page's own type there, and not any.
  project.write(
    "paged.ts",
    `import { openModel } from "kiln-ml/model";
openModel(new URL("https://kiln.example/a.kiln"), { signal: new AbortController().signal });
// @ts-expect-error
openModel("a.kiln", { signal: 5 });
`,
  );
  typed(["paged.ts"], ["es2022", "dom"]);
});

test("the front door's methods are typed where it is installed, and the command runs", () => {
  project.write(
    "front.ts",
    `import { compile, nn, type Tensor, tensor } from "kiln-ml";
import { save } from "kiln-ml/node";
const net = new nn.Linear(2, 1);
const f = compile((x: Tensor) => ({ y: net.forward(x) }));
const y: Tensor = (await f([[1, 2]])).y;
const value: number = await y.item();
await (await net.to("js")).forward(tensor([[1, 2]])).data();
await save("net.safetensors", net);
console.log(Number.isFinite(value));
`,
  );
  const tsc = resolve("node_modules/typescript/bin/tsc");
  const flags = ["--strict", "--module", "nodenext", "--target", "es2023", "--types", ""];
  project.node(tsc, ...flags, "--lib", "es2023,dom", "--ignoreConfig", "front.ts");
  const kiln = join("node_modules", "kiln-ml", "dist", "cli.js");
  assert.is(project.node(kiln, "run", "--target", "js", "front.js"), "true\n");
});

async function pageBundle(text: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: text, resolveDir: project.folder },
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    platform: "browser",
    target: "es2022",
    external: ["webgpu"],
    logLevel: "error",
  });
  return outputFiles[0]?.text ?? "";
}

browserTest("a page bundles and loads kiln-ml", async () => {
  const text = await pageBundle(
    'import * as kiln from "kiln-ml"; globalThis.result = typeof kiln;',
  );
  console.log(`kiln-ml for a page: ${text.length} B min, ${gzipSync(text).length} B gzip`);
  await withPage(pageOf(text), async (page, { errors }) => {
    assert.is(await resultOf(page), "object");
    assert.equal(errors, []);
  });
});

test("every package states its licence", () => {
  for (const name of project.packages) {
    const path = join(project.folder, "node_modules", name, "package.json");
    assert.is(JSON.parse(readFileSync(path, "utf8")).license, "Apache-2.0", name);
  }
});

test.run();
