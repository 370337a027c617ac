/** `kiln serve`: what it says, answers, ends by, and refuses. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packArtifact } from "@kiln-ml/artifact";
import type { Tensor } from "@kiln-ml/ir";
import { exportArtifact } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { main } from "../../packages/kiln/src/cli/main.ts";
import { servers } from "../../packages/kiln/src/cli/serve.ts";
import { settings } from "../../packages/kiln/src/devices/settings.ts";
import { modelFiles } from "../llm/small-model.ts";
import { heard } from "./heard.ts";

const scratch = mkdtempSync(join(tmpdir(), "kiln-cli-serve-"));
const folder = join(scratch, "small");
mkdirSync(folder);
for (const [name, text] of Object.entries(modelFiles)) writeFileSync(join(folder, name), text);
writeFileSync(join(scratch, "config"), "");
const { target, threads } = settings;
test.after(() => {
  Object.assign(settings, { target, threads });
  rmSync(scratch, { recursive: true, force: true });
});

/** Serves until `ask` is done, which is given the address that was told. */
async function served(args: readonly string[], ask: (url: string) => Promise<void>) {
  let failure: unknown;
  const { write } = process.stdout;
  const said = await heard(async () => {
    const own = process.stdout.write;
    process.stdout.write = ((text: string) => {
      const url = /http:\/\/\S+?(?=,|\s)/.exec(text)?.[0];
      if (url)
        void ask(url)
          .catch((e) => {
            failure = e;
          })
          .finally(() => process.emit("SIGTERM"));
      return own.call(process.stdout, text);
    }) as typeof write;
    return main(["serve", ...args, "--port", "0", "--target", "js"]);
  });
  if (failure) throw failure;
  return said;
}

const posted = async (url: string, body: object) => {
  const headers = { "content-type": "application/json" };
  return (await fetch(url, { method: "POST", headers, body: JSON.stringify(body) })).json();
};

test("a language model answers until a signal comes", async () => {
  const { code, out, err } = await served([folder, "--queue", "2"], async (url) => {
    const body = { prompt: "ab", max_tokens: 4, temperature: 0 };
    const answer = (await posted(`${url}/v1/completions`, body)) as {
      model: string;
      choices: { text: string }[];
    };
    assert.is(answer.model, "small");
    assert.match(answer.choices[0]!.text, /^[ab]{4}$/);
  });
  assert.is(err, "");
  assert.is(code, 0);
  assert.match(
    out,
    /^small at http:\/\/127\.0\.0\.1:\d+\nstopping: requests at hand are answered\n$/,
  );
});

test("an artifact answers, and says that its rows run together", async () => {
  const artifact = await exportArtifact((x: Tensor) => x.mul(2), {
    inputs: [["N", 2]],
    target: "js",
  });
  const path = join(scratch, "double.kiln");
  writeFileSync(path, packArtifact(artifact));
  const { out, err } = await served([path, "--name", "twice"], async (url) => {
    const [name] = artifact.signature.inputs.map((i) => i.name);
    const answer = (await posted(`${url}/v1/run`, { inputs: { [name!]: [[1, 2]] } })) as {
      outputs: Record<string, { data: number[] }>;
    };
    assert.equal(Object.values(answer.outputs)[0]!.data, [2, 4]);
  });
  assert.is(err, "");
  assert.match(out, /^twice at http:\S+, up to 32 rows at once\n/);
});

test("a compiled language model answers by the runtime alone, and continues what it knows", async () => {
  const out = join(scratch, "told");
  const compiled = await heard(() =>
    main(["compile", folder, "-o", out, "--target", "js", "--capacity", "24"]),
  );
  assert.is(compiled.err, "");
  const ask = async (url: string): Promise<string> => {
    const body = { prompt: "ab", max_tokens: 6, temperature: 0 };
    const { choices } = (await posted(`${url}/v1/completions`, body)) as {
      choices: { text: string }[];
    };
    return choices[0]!.text;
  };
  const texts: string[] = [];
  const both = async (url: string) => {
    texts.push(await ask(url), await ask(url));
  };
  assert.is((await served([out], both)).err, "");
  assert.is((await served([folder], both)).err, "");
  assert.equal(texts, Array(4).fill(texts[0]));
  const { err } = await served([out, "--entry", "greedy"], async (url) => {
    const answer = (await posted(`${url}/v1/run`, {
      inputs: { scores: [[0, 3, 1, 2, 0]] },
    })) as { outputs: Record<string, { data: number[] }> };
    assert.equal(Object.values(answer.outputs)[0]!.data, [1]);
  });
  assert.is(err, "");
});

test("a model.json of TensorFlow.js answers", async () => {
  const text = JSON.stringify({
    format: "layers-model",
    modelTopology: {
      model_config: {
        class_name: "Sequential",
        config: {
          name: "s",
          layers: [
            {
              class_name: "Activation",
              config: { name: "a", activation: "relu", batch_input_shape: [null, 2] },
            },
          ],
        },
      },
    },
    weightsManifest: [],
  });
  const path = join(scratch, "model.json");
  writeFileSync(path, text);
  const { out, err } = await served([path], async (url) => {
    const { inputs } = (await (await fetch(`${url}/v1/models`)).json()) as never as {
      inputs: { name: string }[];
    };
    void inputs;
    const answer = (await posted(`${url}/v1/run`, { inputs: { a_input: [[-1, 2]] } })) as {
      outputs?: Record<string, { data: number[] }>;
    };
    assert.equal(Object.values(answer.outputs ?? {})[0]?.data, [0, 2], JSON.stringify(answer));
  });
  assert.is(err, "");
  assert.match(out, /^model at /);
});

const refusals: readonly (readonly [args: readonly string[], code: number, message: string])[] = [
  [[], 2, "kiln serve: needs a file\n  see kiln serve --help"],
  [["none.kiln"], 2, "kiln serve: none.kiln does not exist"],
  [[folder, "--port", "x"], 2, "kiln serve: --port must be from 0 to 65535, got x"],
  [
    [join(scratch, "config")],
    1,
    "kiln serve: config is no model that can be served\n  name an artifact, an ONNX file, a model.json, a .gguf file, or a folder with config.json",
  ],
];
for (const [args, code, message] of refusals)
  test(message.split("\n")[0]!, async () => {
    const found = await heard(() => main(["serve", ...args]));
    assert.is(found.err, `${message}\n`);
    assert.is(found.code, code);
  });

test("without the package, the command says what to install", async () => {
  const absent = () =>
    Promise.reject(
      Object.assign(new Error("Cannot find package '@kiln-ml/serve' imported from cli.js"), {
        code: "ERR_MODULE_NOT_FOUND",
      }),
    );
  assert.is(
    await servers(absent).catch((e: Error) => e.message),
    "kiln serve: needs the package @kiln-ml/serve\n  npm install @kiln-ml/serve",
  );
});

test.run();
