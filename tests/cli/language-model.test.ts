/** `kiln generate` and `kiln chat`: what is said, in pieces, stopped, and refused. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { converse, type Reply } from "../../packages/kiln/src/cli/chat.ts";
import { languageModels } from "../../packages/kiln/src/cli/language-model.ts";
import { main } from "../../packages/kiln/src/cli/main.ts";
import { settings } from "../../packages/kiln/src/devices/settings.ts";
import { modelFiles } from "../llm/small-model.ts";
import { heard, type Spoken } from "./heard.ts";

const folder = join(mkdtempSync(join(tmpdir(), "kiln-cli-llm-")), "small");
mkdirSync(folder);
for (const [name, text] of Object.entries(modelFiles)) writeFileSync(join(folder, name), text);
const { target, threads } = settings;
test.after(() => {
  Object.assign(settings, { target, threads });
  rmSync(join(folder, ".."), { recursive: true, force: true });
});

const generate = (...args: string[]): Promise<Spoken> =>
  heard(() => main(["generate", folder, "--target", "js", ...args]));

test("what follows a prompt is printed, up to the tokens asked for, and to a stop", async () => {
  const { code, out, err } = await generate("--prompt", "ab", "--max-tokens", "6");
  assert.is(err, "");
  assert.is(code, 0);
  assert.match(out, /^[ab]{6}\n$/);
  const { out: cut } = await generate("--prompt", "ab", "--max-tokens", "6", "--stop", out[3]!);
  assert.is(cut, `${out.slice(0, out.indexOf(out[3]!))}\n`);
});

test("the same seed draws the same", async () => {
  const drawn = ["--prompt", "ab", "--max-tokens", "12", "--temperature", "1.5", "--top-k", "4"];
  const more = ["--top-p", "0.99", "--min-p", "0.01", "--repetition-penalty", "1.1"];
  const [a, b] = [
    await generate(...drawn, ...more, "--seed", "7"),
    await generate(...drawn, ...more, "--seed", "7"),
  ];
  assert.is(a.err, "");
  assert.is(a.out, b.out);
});

for (const kind of ["int8", "int4", "f16"])
  test(`matrices are kept as ${kind}`, async () => {
    const { err, out } = await generate("--prompt", "ab", "--max-tokens", "6", "--quantize", kind);
    assert.is(err, "");
    assert.match(out, /^[ab]{6}\n$/);
  });

const refusals: readonly (readonly [args: readonly string[], code: number, message: string])[] = [
  [["generate"], 2, "kiln generate: needs a model\n  see kiln generate --help"],
  [["generate", folder], 2, "kiln generate: needs --prompt TEXT\n  see kiln generate --help"],
  [
    ["generate", "m", "Once", "--prompt", "a"],
    2,
    "kiln generate: takes one model, got 2: m Once\n  put a text of several words into quotes",
  ],
  [
    ["generate", folder, "--prompt", "a", "--top-p", "half"],
    2,
    "kiln generate: --top-p must be a number, got half",
  ],
  [
    ["generate", folder, "--prompt", "a", "--quantize", "int2"],
    2,
    "kiln generate: --quantize must be int8, int4, f16, got int2",
  ],
  [
    ["generate", folder, "--prompt", "a", "--max-tokens", "0"],
    2,
    "kiln generate: --max-tokens must be an integer of 1 or more, got 0",
  ],
  [
    ["generate", "none", "--prompt", "a"],
    1,
    "LanguageModelError: loadModel: none does not exist\n  give the folder of a model, or a .gguf file",
  ],
  [
    ["generate", folder, "--prompt", "a", "--top-p", "3"],
    1,
    "LanguageModelError: generate: topP must be above 0 and at most 1, got 3",
  ],
  [
    ["chat", folder],
    1,
    "kiln chat: small has no chat template: it was not made to converse\n  kiln generate goes on from a text",
  ],
];
for (const [args, code, message] of refusals)
  test(message.split("\n")[0]!, async () => {
    const found = await heard(() => main(args));
    assert.is(found.err.replace(/^\S+:\d+:\d+: /, ""), `${message}\n`);
    assert.is(found.code, code);
  });

test("without the package, the command says what to install", async () => {
  const absent = (name: string) => () =>
    Promise.reject(
      Object.assign(new Error(`Cannot find package '${name}' imported from cli.js`), {
        code: "ERR_MODULE_NOT_FOUND",
      }),
    );
  const said = (from: () => Promise<never>): Promise<string> =>
    languageModels("chat", from).then(
      () => "",
      (e: Error) => e.message,
    );
  assert.is(
    await said(absent("@kiln-ml/llm")),
    "kiln chat: needs the package @kiln-ml/llm\n  npm install @kiln-ml/llm",
  );
  // What the package itself lacks is another matter.
  assert.match(await said(absent("other")), /^Cannot find package 'other'/);
});

/** A conversation of lines, with keys pressed as pieces come. */
async function conversation(
  asked: readonly string[],
  reply: Reply,
  onLines: (lines: ReturnType<typeof createInterface>) => void = () => {},
): Promise<Spoken> {
  const input = new PassThrough();
  const lines = createInterface({ input, output: new PassThrough() });
  onLines(lines);
  // A stream of memory would be read before anybody listens.
  setImmediate(() => input.end(asked.map((l) => `${l}\n`).join("")));
  return heard(async () => {
    await converse(lines, reply, [{ role: "system", content: "be brief" }]);
    return 0;
  });
}

test("each reply knows what was said before", async () => {
  const told: string[] = [];
  const { out, err } = await conversation(["one", "", "two"], async function* (messages) {
    told.push(messages.map((m) => `${m.role}: ${m.content}`).join(", "));
    yield "re";
    yield "ply";
  });
  assert.equal(told, [
    "system: be brief, user: one",
    "system: be brief, user: one, assistant: reply, user: two",
  ]);
  assert.is(out, "reply\nreply\n");
  assert.is(err, "");
});

test("Ctrl-C stops a reply, and what was said of it stays; twice leaves", async () => {
  let key = (): void => {};
  const told: number[] = [];
  const reply: Reply = async function* (messages, signal) {
    told.push(messages.length);
    for (;;) {
      signal.throwIfAborted();
      yield "a";
      key();
      if (told.length === 2) key();
    }
  };
  const { out } = await conversation(["one", "two", "three"], reply, (lines) => {
    key = () => lines.emit("SIGINT");
  });
  assert.equal(told, [2, 4]);
  assert.is(out, "a\na\n");
});

test("what cannot be replied to is said and forgotten", async () => {
  const told: number[] = [];
  const { out, err } = await conversation(["long", "short"], async function* (messages) {
    told.push(messages.length);
    if (told.length === 1) throw new RangeError("too long");
    yield "yes";
  });
  assert.equal(told, [2, 2]);
  assert.match(err, /RangeError: too long\n$/);
  assert.is(out, "yes\n");
});

test.run();
