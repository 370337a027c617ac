/**
 * The rules of the architecture as functions from files to complaints, one line each; an empty list
 * is a pass. Which package may import which is the table below and nowhere else.
 */
import { targetNames } from "@kiln-ml/compiler/all";
import {
  importsOf,
  isCode,
  packageOf,
  resolveRelative,
  type SourceFile,
  workspaceOf,
} from "./source-files.ts";

/**
 * What a workspace may import besides itself and `node:`, subpaths included; "type " allows only
 * types.
 */
const allowed: Readonly<Record<string, readonly string[] | "everything">> = {
  "packages/ir": [],
  "packages/artifact": ["type @kiln-ml/ir", "@kiln-ml/ir/errors"],
  "packages/nn": ["@kiln-ml/ir"],
  "packages/optim": ["@kiln-ml/ir"],
  // Files are opened by artifact's, by its subpath for Node alone: so a page that has loaders has
  // no artifacts.
  "packages/data": ["@kiln-ml/ir", "@kiln-ml/artifact/node", "papaparse", "fast-png", "jpeg-js"],
  "packages/formats": ["@kiln-ml/ir", "@kiln-ml/artifact", "fflate"],
  // The page is bundled by esbuild, when it runs from source and when it is built.
  "packages/inspector": ["@dagrejs/dagre", "esbuild"],
  "packages/onnx": ["@kiln-ml/ir", "@bufbuild/protobuf"],
  // Texts take many runs of several programs, so it needs what compiles and keeps them.
  "packages/llm": ["kiln-ml", "@huggingface/tokenizers", "@huggingface/jinja"],
  // A server is a program of its own: nobody downloads its library for anything else.
  "packages/serve": ["kiln-ml", "@kiln-ml/llm", "hono", "@hono/node-server"],
  // In front of the front door: a program that has it knows nothing else of ours.
  "packages/onnxruntime": ["kiln-ml"],
  // Another file format with graphs of the form that ONNX's have: the importer walks both.
  "packages/tfjs-files": ["@kiln-ml/ir", "@kiln-ml/onnx"],
  // The same for a program of TensorFlow.js, whose core says what a backend is.
  "packages/tfjs": ["kiln-ml", "@tensorflow/tfjs-core"],
  // What it writes asks for Kiln; the command itself is Node alone, since npm fetches it for one
  // use.
  "packages/create-kiln-app": ["kiln-ml"],
  "packages/stablehlo": ["@kiln-ml/ir"],
  "packages/xla": ["@kiln-ml/ir", "@kiln-ml/stablehlo", "kiln-ml"],
  "packages/train": [
    "@kiln-ml/ir",
    "@kiln-ml/nn",
    "@kiln-ml/optim",
    "@kiln-ml/data",
    "@kiln-ml/artifact",
  ],
  // Models train themselves, by `fit`.
  "packages/vision": [
    "@kiln-ml/ir",
    "@kiln-ml/nn",
    "@kiln-ml/optim",
    "@kiln-ml/data",
    "@kiln-ml/train",
  ],
  compiler: ["@kiln-ml/ir", "@kiln-ml/artifact"],
  runtime: ["@kiln-ml/artifact", "webgpu"],
  "packages/kiln": "everything",
  "packages/site": "everything",
  "packages/tools": "everything",
};

function permits(entry: string, from: string, typeOnly: boolean): boolean {
  if (entry.startsWith("type ")) return typeOnly && permits(entry.slice(5), from, true);
  return from === entry || from.startsWith(`${entry}/`);
}

/**
 * Imports against the table, relative imports out of the workspace, and workspaces the table does
 * not know.
 */
export function wrongImports(files: readonly SourceFile[]): string[] {
  return files.filter(isCode).flatMap(({ path, text }) => {
    const workspace = workspaceOf(path);
    if (workspace === undefined) return [];
    const list = allowed[workspace];
    if (list === undefined) return [`${path}: ${workspace} is not in the table of allowed imports`];
    return importsOf(text)
      .filter(({ from, typeOnly }) => {
        if (from.startsWith("node:")) return false;
        if (from.startsWith(".")) return workspaceOf(resolveRelative(path, from)) !== workspace;
        if (list === "everything") return false;
        return !list.some((entry) => permits(entry, from, typeOnly));
      })
      .map(({ from }) => `${path}: may not import ${from}`);
  });
}

/**
 * What each folder of `compiler/src` may import besides itself: other folders, and files beside
 * them. Printers import schedules in their `target.ts` alone, which
 * lists them. Passes ask `fuse` what it will find (docs/decisions/compiler-walls.md).
 */
const insideCompiler: Readonly<Record<string, readonly string[]>> = {
  kernel: [],
  machine: [],
  rules: ["program.ts"],
  passes: [
    "rules",
    "fuse",
    "machine",
    "access.ts",
    "choices.ts",
    "pass.ts",
    "program.ts",
    "rewrite.ts",
    "sizes.ts",
  ],
  fuse: ["kernel", "machine", "access.ts", "program.ts", "sizes.ts"],
  lower: ["kernel", "fuse", "access.ts", "choices.ts", "program.ts", "sizes.ts"],
  schedule: ["kernel", "lower", "fuse", "machine", "access.ts", "choices.ts", "sizes.ts"],
  plan: ["kernel", "lower", "fuse", "passes", "access.ts", "program.ts", "target.ts", "sizes.ts"],
  targets: ["kernel", "access.ts", "pass.ts", "program.ts", "target.ts"],
};
const inTargetFile = ["schedule", "passes", "fuse", "machine"];

const compilerSource = "compiler/src/";

/** Imports between folders of the compiler against the table, and folders that it does not know. */
export function wrongCompilerImports(files: readonly SourceFile[]): string[] {
  return files
    .filter(({ path }) => path.startsWith(compilerSource) && isCode({ path, text: "" }))
    .flatMap(({ path, text }) => {
      const [folder, ...below] = path.slice(compilerSource.length).split("/");
      if (below.length === 0) return [];
      const table = insideCompiler[folder!];
      if (!table) return [`${path}: ${folder} is not in the table of the compiler's folders`];
      const list = below.at(-1) === "target.ts" ? [...table, ...inTargetFile] : table;
      return importsOf(text)
        .filter(({ from }) => {
          if (!from.startsWith(".")) return false;
          const to = resolveRelative(path, from).slice(compilerSource.length).split("/")[0]!;
          return to !== folder && !list.includes(to);
        })
        .map(({ from }) => `${path}: ${folder} may not import ${from}`);
    });
}

/** Cycles of static value imports within a workspace, each told once from its first file. */
export function importCycles(files: readonly SourceFile[]): string[] {
  const edges = new Map(
    files.filter(isCode).map(({ path, text }) => {
      const values = importsOf(text).filter((i) => !i.typeOnly && !i.dynamic);
      const relative = values.filter((i) => i.from.startsWith("."));
      return [path, relative.map((i) => resolveRelative(path, i.from))];
    }),
  );
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) cycles.push([...trail.slice(start), path].join(" -> "));
    if (start >= 0 || done.has(path)) return;
    for (const next of edges.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of edges.keys()) visit(path, []);
  return cycles;
}

const mostLines = 400;

/** Files over 400 lines, but for generated ones (their first line says so) and tables of data. */
export function longFiles(files: readonly SourceFile[]): string[] {
  return files
    .filter((file) => isCode(file) && !/-table\.ts$/.test(file.path))
    .filter(({ text }) => !/generated by/i.test(text.slice(0, text.indexOf("\n"))))
    .map(({ path, text }) => ({ path, lines: text.trimEnd().split("\n").length }))
    .filter(({ lines }) => lines > mostLines)
    .map(({ path, lines }) => `${path}: ${lines} lines, at most ${mostLines}`);
}

interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly dependencies?: Record<string, string>;
  readonly devDependencies?: Record<string, string>;
  readonly peerDependencies?: Record<string, string>;
  readonly optionalDependencies?: Record<string, string>;
}

function declaredBy(manifest: Manifest): string[] {
  const { dependencies, peerDependencies, optionalDependencies } = manifest;
  return Object.keys({ ...dependencies, ...peerDependencies, ...optionalDependencies });
}

/** Imports a package.json does not declare, and dependencies it declares and no source imports. */
export function undeclaredDependencies(files: readonly SourceFile[]): string[] {
  const manifests = files.filter(({ path }) =>
    /^(packages\/[^/]+|compiler|runtime)\/package\.json$/.test(path),
  );
  const root = JSON.parse(files.find(({ path }) => path === "package.json")?.text ?? "{}");
  return manifests.flatMap(({ path, text }) => {
    const manifest: Manifest = JSON.parse(text);
    const workspace = workspaceOf(path) ?? "";
    // Programs of the playground import what its page gives them, templates what their own
    // manifests declare.
    const sources = files.filter(
      (file) =>
        isCode(file) &&
        file.path.startsWith(`${workspace}/`) &&
        !/^packages\/(site\/programs|create-kiln-app\/templates)\//.test(file.path),
    );
    const imports = sources.flatMap((file) => importsOf(file.text).map(({ from }) => from));
    const used = new Set(
      imports.filter((from) => !/^(node:|\.)/.test(from)).map((from) => packageOf(from)),
    );
    const declared = declaredBy(manifest);
    // Tools and site are private and run from the root, whose development dependencies are theirs.
    const known =
      manifest.private === true
        ? [...declared, ...declaredBy({ ...root, dependencies: root.devDependencies })]
        : declared;
    const missing = [...used].filter((name) => !known.includes(name));
    // What a peer is asked for may be found by path in the user's project, as `kiln run` finds
    // typescript.
    const own = declaredBy({ ...manifest, peerDependencies: {} });
    // A workspace of a few files is only begun: what it will import is declared ahead.
    const unused = sources.length > 3 ? own.filter((name) => !used.has(name)) : [];
    return [
      ...missing.map((name) => `${path}: does not declare ${name}`),
      ...unused.map((name) => `${path}: declares ${name}, which no source imports`),
    ];
  });
}

/** Bullets under "## Invariants" that name no test file, or one that does not exist. */
export function unprovedInvariants(architecture: string, files: readonly SourceFile[]): string[] {
  const section = /^## Invariants\n(.*?)(?=^## |$(?![\s\S]))/ms.exec(architecture)?.[1];
  if (section === undefined) return ['docs/architecture.md: has no section "Invariants"'];
  const known = new Set(files.map(({ path }) => path));
  const bullets = section.split(/^[*-] /m).slice(1);
  return bullets.flatMap((bullet) => {
    const tests = bullet.match(/tests\/[\w./-]+\.test\.ts/g) ?? [];
    const start = bullet.split("\n")[0];
    if (tests.length === 0) return [`invariant names no test: ${start}`];
    return tests
      .filter((name) => !known.has(name))
      .map((name) => `${name} does not exist: ${start}`);
  });
}

// Spelled in parts, so that this file does not find itself.
const machinePath = new RegExp(
  `(?<![\\w.@-])/(${["work", "home/\\w+", "Users/\\w+", "root"].join("|")})/`,
);

/** Lines that name a folder of somebody's machine. */
export function machinePaths(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path, text }) =>
    text
      .split("\n")
      .flatMap((line, i) =>
        machinePath.test(line) ? [`${path}:${i + 1}: names a machine's folder`] : [],
      ),
  );
}

const targetNamed = new RegExp(
  `\\b(?:\\w+\\.)*target\\s*[!=]==\\s*[^\\s)]+|(["'\`])(?:${targetNames.join("|")})\\1`,
  "g",
);

/** Lines of the artifact that ask which target it is, instead of a row of its table. */
export function namedTargets(files: readonly SourceFile[]): string[] {
  const asked = ({ path }: SourceFile): boolean =>
    path.startsWith("packages/artifact/src/") && !path.endsWith("/targets.ts");
  return files.filter(asked).flatMap(({ path, text }) =>
    text.split("\n").flatMap((line, i) => {
      if (/^\s*(?:\/\*|\*|\/\/)/.test(line)) return [];
      const found = Array.from(line.matchAll(targetNamed), ([words]) => words);
      return found.map((words) => `${path}:${i + 1}: compares or names a target: ${words}`);
    }),
  );
}

/**
 * Packages locked to an address: they are to come from whatever registry the user's npm is set to.
 */
export function lockedAddresses(lock: string): string[] {
  const { packages } = JSON.parse(lock) as { packages: Record<string, { resolved?: string }> };
  return Object.entries(packages)
    .filter(([, { resolved }]) => /^\w+:/.test(resolved ?? ""))
    .map(([path, { resolved }]) => `${path}: locked to ${resolved}`);
}
