/** `kiln serve`: a model over HTTP, until it is told to stop. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { settings } from "../devices/settings.ts";
import { openModel } from "../node.ts";
import { compiledTexts } from "./compiled-text.ts";
import { PlainError } from "./failure.ts";
import { languageModels } from "./language-model.ts";
import { isGraph } from "./model.ts";
import { helpOf, type Option, shared, tableOf } from "./options.ts";
import { isArtifact } from "./ready.ts";
import { complain, inLine, say } from "./terminal.ts";
import {
  countFrom,
  oneFile,
  type Parsed,
  parseOptions,
  targetFrom,
  threadsFrom,
  UsageError,
} from "./usage.ts";

export const options: readonly Option[] = [
  { name: "port", value: "N", help: "the port (8080); 0 for any that is free" },
  { name: "host", value: "ADDRESS", help: "the address that is listened on (127.0.0.1)" },
  { name: "name", value: "NAME", help: "what requests call the model (the file's name)" },
  { name: "queue", value: "N", help: "requests that wait at most (64); more are refused with 429" },
  { name: "batch", value: "N", help: "rows of requests that run together at most (32)" },
  { name: "context", value: "N", help: "the most tokens of a text and its answer (4096)" },
  { name: "max-body", value: "BYTES", help: "the most bytes of a request (16777216)" },
  { name: "target", value: "auto|js|wasm|webgpu", help: "where the model runs (auto)" },
  shared.entry,
  shared.threads,
];

export const help = helpOf(
  "serve model.kiln | model.onnx | model.json | MODEL [options]",
  options,
  `MODEL is a language model: a folder with config.json, tokenizer.json and safetensors, a .gguf file,
or the folder that kiln compile made of one. It answers POST /v1/completions and
/v1/chat/completions as OpenAI's interface, an encoder of texts /v1/embeddings, others POST /v1/run.
All have /v1/models, /health and /metrics. Ctrl-C answers what is at hand and ends; twice, it ends
at once. Needs the package @kiln-ml/serve.
`,
);

type Package = typeof import("@kiln-ml/serve");
type Served = Parameters<Package["serve"]>[0];

/** The package. Throws PlainError where it is not installed. */
export async function servers(
  from: () => Promise<Package> = () => import("@kiln-ml/serve"),
): Promise<Package> {
  try {
    return await from();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== "ERR_MODULE_NOT_FOUND" || !message.includes("'@kiln-ml/serve'")) throw error;
    throw new PlainError(
      "kiln serve: needs the package @kiln-ml/serve\n  npm install @kiln-ml/serve",
    );
  }
}

export async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions("serve", args, tableOf(options));
  const path = oneFile("serve", positionals);
  settings.target = targetFrom("serve", values.target);
  settings.threads = threadsFrom("serve", values.threads);
  const given = definedOf({
    port: portFrom(values.port),
    host: values.host === undefined ? undefined : String(values.host),
    queue: countOf(values, "queue"),
    batch: countOf(values, "batch"),
    maxBodyBytes: countOf(values, "max-body"),
  });
  const context = countOf(values, "context") ?? mostContext;
  const { serve, serveDefaults } = await servers();
  const how = {
    ...serveDefaults,
    ...given,
    name: String(values.name ?? basename(path).replace(/\.(kiln|onnx|gguf|json)$/i, "")),
    log: (text: string) => complain(`${text}\n`),
  };
  const { model, dispose } = await opened(path, context, values);
  try {
    const server = await serve(model, how);
    const batched = server.isBatched ? `, up to ${how.batch} rows at once` : "";
    say(`${inLine(how.name)} at ${server.url}${batched}\n`);
    await untilStopped(server.stop);
  } finally {
    await dispose();
  }
  return 0;
}

/** A text and its answer may be longer than there is memory for. */
const mostContext = 4096;

/** Of the server's options those that were given; it knows what the others are. */
const definedOf = <T extends object>(options: T): Partial<{ [K in keyof T]: NonNullable<T[K]> }> =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as never;

const countOf = (values: Parsed["values"], name: string): number | undefined =>
  values[name] === undefined ? undefined : countFrom("serve", name, values[name], 1);

function portFrom(value: Parsed["values"][string]): number | undefined {
  if (value === undefined) return undefined;
  const port = Number(value);
  if (value !== "" && Number.isInteger(port) && port >= 0 && port < 65_536) return port;
  throw new UsageError(`kiln serve: --port must be from 0 to 65535, got ${value}`);
}

interface Opened {
  readonly model: Served;
  readonly dispose: () => Promise<void>;
}

async function opened(path: string, context: number, values: Parsed["values"]): Promise<Opened> {
  const compiled = values.entry === undefined && (await compiledTexts("serve", path, values));
  if (compiled) return { model: compiled, dispose: () => compiled.session.dispose() };
  if (isArtifact(path) || isGraph(path)) {
    const target = settings.target === "auto" ? undefined : settings.target;
    const model = await openModel(path, {
      ...(target ? { targets: [target] } : {}),
      ...(values.entry === undefined ? {} : { entry: String(values.entry) }),
    });
    return { model, dispose: () => model.dispose() };
  }
  const isFolder = statSync(path).isDirectory() && existsSync(join(path, "config.json"));
  if (!isFolder && !/\.gguf$/i.test(path))
    throw new PlainError(
      `kiln serve: ${inLine(basename(path))} is no model that can be served\n  name an artifact, an ONNX file, a model.json, a .gguf file, or a folder with config.json`,
    );
  const { loadModel, TextSession, loadEncoder, encoders, Embedder } = await languageModels("serve");
  if (isFolder && Object.hasOwn(encoders, typeIn(path))) {
    const embedder = new Embedder(await loadEncoder(path));
    return { model: { embedder }, dispose: () => embedder.dispose() };
  }
  const { net, tokenizer, chat } = await loadModel(path);
  const session = new TextSession(net, { capacity: Math.min(net.config.context, context) });
  return { model: { session, tokenizer, chat }, dispose: () => session.dispose() };
}

/**
 * What a folder's config.json calls its architecture; whoever loads it says what is wrong with it.
 */
function typeIn(folder: string): string {
  try {
    return String(JSON.parse(readFileSync(join(folder, "config.json"), "utf8")).model_type);
  } catch {
    return "";
  }
}

/**
 * Resolves when a signal has come and what was at hand is answered; the second signal is at once.
 */
function untilStopped(stop: () => Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      process.off("SIGINT", asked);
      process.off("SIGTERM", asked);
    };
    let isAsked = false;
    const asked = (): void => {
      if (isAsked) process.exit(1);
      isAsked = true;
      say("stopping: requests at hand are answered\n");
      stop().then(resolve, reject).finally(end);
    };
    process.on("SIGINT", asked);
    process.on("SIGTERM", asked);
  });
}
