/** A language model over a real port: answers, streams, refusals, clients that go away, an end. */
import { chatTemplate, generate, LanguageModelError } from "@kiln-ml/llm";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { endless, numbers, post, refusal, sample, sessionOf, started, until } from "./asking.ts";

const net = endless(512);
const session = sessionOf(net);
const chat = await chatTemplate("{% for m in messages %}{{ m.content }} {% endfor %}");
const model = { session, tokenizer: numbers, chat };
const server = await started(model, { maxBodyBytes: 4000 });
const apart = sessionOf(net);
test.after(async () => {
  await server.stop();
  await session.dispose();
  await apart.dispose();
});

async function expected(prompt: string, options: object): Promise<string> {
  let text = "";
  for await (const piece of generate({ session: apart, tokenizer: numbers }, prompt, options))
    text += piece;
  return text;
}

interface Answer {
  readonly object: string;
  readonly model: string;
  readonly choices: readonly {
    readonly index: number;
    readonly text: string;
    readonly message: { readonly role: string; readonly content: string };
    readonly delta: { readonly role?: string; readonly content?: string };
    readonly finish_reason: string | null;
  }[];
  readonly usage: Readonly<Record<string, number>>;
}

const asked = async (path: string, body: object): Promise<Answer> =>
  (await (await post(server, path, body)).json()) as Answer;
const completion = (body: object) => asked("/v1/completions", body);

test("a completion is what generate tells, with its usage", async () => {
  const answer = await completion({ model: "m", prompt: "1 2 3", max_tokens: 6, temperature: 0 });
  assert.is(answer.object, "text_completion");
  assert.is(answer.choices[0]!.text, await expected("1 2 3", { maxTokens: 6 }));
  assert.is(answer.choices[0]!.finish_reason, "length");
  assert.equal(answer.usage, { prompt_tokens: 3, completion_tokens: 6, total_tokens: 9 });
});

test("a stop ends it, a seed draws the same, several prompts are several answers", async () => {
  const text = await expected("4 5", { maxTokens: 8 });
  const stop = ` ${text.split(" ")[3]}`;
  const cut = await completion({ prompt: "4 5", max_tokens: 8, temperature: 0, stop });
  assert.is(cut.choices[0]!.text, text.slice(0, text.indexOf(stop)));
  assert.is(cut.choices[0]!.finish_reason, "stop");
  const drawn = { prompt: ["4 5", [6, 7]], max_tokens: 8, temperature: 1.5, top_p: 0.95, seed: 9 };
  const [a, b] = [await completion(drawn), await completion(drawn)];
  assert.is(a.choices.length, 2);
  assert.equal(
    a.choices.map((c) => c.text),
    b.choices.map((c) => c.text),
  );
  const options = { maxTokens: 8, temperature: 1.5, topP: 0.95, seed: 9 };
  assert.is(a.choices[1]!.text, await expected("6 7", options));
});

/** The objects of a stream, whose last event is [DONE]. */
async function events(body: object, path = "/v1/completions"): Promise<Answer[]> {
  const response = await post(server, path, { ...body, stream: true });
  assert.match(response.headers.get("content-type") ?? "", /^text\/event-stream/);
  const parts = (await response.text()).split("\n\n");
  assert.equal(parts.splice(-2), ["data: [DONE]", ""]);
  return parts.map((p) => JSON.parse(p.replace(/^data: /, "")));
}

test("a stream's parts are the whole, and its last ones say why and how many", async () => {
  const body = { prompt: "1 2 3", max_tokens: 6, temperature: 0 };
  const parts = await events({ ...body, stream_options: { include_usage: true } });
  const text = parts.flatMap((p) => p.choices.map((c) => c.text)).join("");
  assert.is(text, await expected("1 2 3", { maxTokens: 6 }));
  assert.ok(parts.length >= 8);
  assert.is(parts.at(-2)!.choices[0]!.finish_reason, "length");
  assert.equal(parts.at(-1)!.choices, []);
  assert.is(parts.at(-1)!.usage.total_tokens, 9);
});

test("a conversation is the template's text, whole and as a stream", async () => {
  const messages = [
    { role: "system", content: "1 2" },
    { role: "user", content: [{ type: "text", text: "3" }] },
  ];
  const body = { messages, max_completion_tokens: 5, temperature: 0 };
  const answer = await asked("/v1/chat/completions", body);
  const wanted = await expected("1 2 3", { maxTokens: 5 });
  assert.is(answer.object, "chat.completion");
  assert.equal(answer.choices[0]!.message, { role: "assistant", content: wanted });
  const parts = await events(body, "/v1/chat/completions");
  assert.is(parts[0]!.choices[0]!.delta.role, "assistant");
  assert.is(parts.map((p) => p.choices[0]!.delta.content ?? "").join(""), wanted);
});

test("what begins as the text before is not run again", async () => {
  await completion({ prompt: "9 8 7 6 5 4 3", max_tokens: 1, temperature: 0 });
  const before = await sample(server, "kiln_prompt_tokens_ran_total");
  await completion({ prompt: "9 8 7 6 5 4 3 2", max_tokens: 1, temperature: 0 });
  assert.is((await sample(server, "kiln_prompt_tokens_ran_total")) - before, 1);
});

const cases: readonly (readonly [wanted: string, path: string, body: unknown])[] = [
  ["400 invalid_value: body must be an object", "/v1/completions", "[]"],
  [
    "400 invalid_value: prompt must be a text, tokens, or a list of 1 to 16 of them",
    "/v1/completions",
    {},
  ],
  ["400 invalid_value: prompt has no tokens", "/v1/completions", { prompt: "" }],
  [
    "400 invalid_value: prompt has token 24, the model knows 24",
    "/v1/completions",
    { prompt: [24] },
  ],
  [
    "400 context_length_exceeded: prompt has 600 tokens, the model has room for 512",
    "/v1/completions",
    { prompt: Array(600).fill(1) },
  ],
  ["400 invalid_value: n 2 is not built: leave it out", "/v1/completions", { prompt: "1", n: 2 }],
  [
    "400 invalid_value: temperature must be from 0 to 100, got -1",
    "/v1/completions",
    { prompt: "1", temperature: -1 },
  ],
  [
    '400 invalid_value: top_p must be a number, got "x"',
    "/v1/completions",
    { prompt: "1", top_p: "x" },
  ],
  [
    "400 invalid_value: max_tokens must be an integer of 1 or more, got 0",
    "/v1/completions",
    { prompt: "1", max_tokens: 0 },
  ],
  [
    "400 invalid_value: stop must be a text or at most 16 of them, of 1000 characters each",
    "/v1/completions",
    { prompt: "1", stop: [7] },
  ],
  [
    "400 invalid_value: generate: topK must be an integer from 1 to 24, the size of the vocabulary, got 99",
    "/v1/completions",
    { prompt: "1", temperature: 1, top_k: 99 },
  ],
  [
    "404 model_not_found: there is no model other here, but m",
    "/v1/completions",
    { prompt: "1", model: "other" },
  ],
  ["400 invalid_value: messages must be a list of 1 to 10000 messages", "/v1/chat/completions", {}],
  [
    "400 invalid_value: messages[0].content must be a text, or parts of type text",
    "/v1/chat/completions",
    { messages: [{ role: "user", content: 7 }] },
  ],
  ["404 not_found: there is no /v1/none here", "/v1/none", {}],
  ["405 method_not_allowed: /health does not take POST", "/health", {}],
  [
    "413 body_too_large: the body may have 4000 bytes",
    "/v1/completions",
    { prompt: "1 ".repeat(4000) },
  ],
];
for (const [wanted, path, body] of cases)
  test(wanted, async () => assert.is(await refusal(await post(server, path, body)), wanted));

test("options that a session cannot take are refused before a stream begins", async () => {
  const picky = Object.assign(sessionOf(net), {
    checkSampling({ topK }: { topK?: number }): void {
      if (topK !== undefined) throw new LanguageModelError("generate: no topK here");
    },
  });
  const other = await started({ session: picky, tokenizer: numbers });
  for (const stream of [true, false]) {
    const body = { prompt: "1 2", top_k: 3, max_tokens: 2, stream };
    const answer = await post(other, "/v1/completions", body);
    assert.is(await refusal(answer), "400 invalid_value: generate: no topK here");
  }
  assert.is((await post(other, "/v1/completions", { prompt: "1", max_tokens: 2 })).status, 200);
  assert.is(picky.ran, 2);
  await other.stop();
  await picky.dispose();
});

test("a body that is no JSON, or does not say that it is one, is refused", async () => {
  assert.match(await refusal(await post(server, "/v1/completions", "{")), /^400 invalid_json: /);
  const plain = { headers: { "content-type": "text/plain" } };
  assert.is(
    await refusal(await post(server, "/v1/completions", { prompt: "1" }, plain)),
    "415 not_json: content-type must be application/json",
  );
});

test("models, health and metrics are told", async () => {
  const models = await (await fetch(`${server.url}/v1/models`)).json();
  assert.is((models as { data: { id: string }[] }).data[0]!.id, "m");
  assert.equal(await (await fetch(`${server.url}/health`)).json(), { status: "ok", model: "m" });
  const text = await (await fetch(`${server.url}/metrics`)).text();
  for (const line of text.trimEnd().split("\n"))
    assert.match(
      line,
      /^(# (HELP|TYPE) kiln_\w+ .+|kiln_\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})? [\d.e+-]+)$/,
    );
  assert.match(text, /kiln_requests_total\{route="\/v1\/completions",status="200"\} \d/);
  assert.match(text, /kiln_requests_total\{route="other",status="404"\} 1/);
});

test("without a template there are no conversations", async () => {
  const other = await started({ session: apart, tokenizer: numbers });
  const answer = await post(other, "/v1/chat/completions", {
    messages: [{ role: "user", content: "1" }],
  });
  assert.is(
    await refusal(answer),
    "400 no_chat_template: this model has no chat template: ask /v1/completions",
  );
  await other.stop();
});

test("a client that goes away ends its text, and one that waits leaves the queue", async () => {
  const [gone, tired] = [new AbortController(), new AbortController()];
  const long = { prompt: "1", max_tokens: 500 };
  const before = session.ran;
  const goOn = session.hold(3);
  const response = await post(
    server,
    "/v1/completions",
    { ...long, stream: true },
    { signal: gone.signal },
  );
  const reader = response.body!.getReader();
  await reader.read();
  const waits = post(server, "/v1/completions", long, { signal: tired.signal }).catch(() => "left");
  await until(async () => (await sample(server, "kiln_queue_waiting")) === 1);
  tired.abort();
  assert.is(await waits, "left");
  await until(async () => (await sample(server, "kiln_queue_waiting")) === 0);
  const aborted = await sample(server, "kiln_aborted_total");
  gone.abort();
  await reader.read().catch(() => {});
  await until(async () => (await sample(server, "kiln_aborted_total")) > aborted);
  goOn();
  await until(async () => (await sample(server, "kiln_running")) === 0);
  // The step that was held is the last.
  assert.is(session.ran - before, 4);
  // Whole answers end so too.
  const other = new AbortController();
  const goOnAgain = session.hold(0);
  const ended = post(server, "/v1/completions", long, { signal: other.signal }).catch(() => "left");
  await until(async () => (await sample(server, "kiln_running")) === 1);
  other.abort();
  assert.is(await ended, "left");
  goOnAgain();
  await until(async () => (await sample(server, "kiln_running")) === 0);
  assert.is(await sample(server, "kiln_aborted_total"), aborted + 2);
  const next = await completion({ prompt: "1 2 3", max_tokens: 6, temperature: 0 });
  assert.is(next.choices[0]!.text, await expected("1 2 3", { maxTokens: 6 }));
});

test("of 1,000 requests at once those that fit are answered, the others told to come again", async () => {
  const small = await started({ session: apart, tokenizer: numbers }, { queue: 20 });
  const body = { prompt: "1", max_tokens: 2, temperature: 0 };
  const all = await Promise.all(
    Array.from({ length: 1000 }, async () => {
      const response = await post(small, "/v1/completions", body);
      await response.arrayBuffer();
      return [response.status, response.headers.get("retry-after")] as const;
    }),
  );
  const answered = all.filter(([status]) => status === 200).length;
  const refused = all.filter(([status, after]) => status === 429 && after === "1").length;
  assert.is(answered + refused, 1000);
  assert.ok(answered >= 21, `${answered} were answered`);
  assert.is(await sample(small, "kiln_queue_waiting"), 0);
  await small.stop();
});

test("at the end what is at hand is answered, and nothing new begins", async () => {
  const ending = await started({ session: apart, tokenizer: numbers });
  const goOn = apart.hold(0);
  const body = { prompt: "1", max_tokens: 20, temperature: 0 };
  const [runs, waits] = [
    post(ending, "/v1/completions", body),
    post(ending, "/v1/completions", body),
  ];
  await until(async () => (await sample(ending, "kiln_queue_waiting")) === 1);
  const stopped = ending.stop();
  const late = await post(ending, "/v1/completions", body);
  assert.is(await refusal(late), "503 stopping: the server is stopping: ask another one");
  assert.is((await fetch(`${ending.url}/health`)).status, 503);
  goOn();
  assert.equal([(await runs).status, (await waits).status], [200, 200]);
  await stopped;
  const after = await fetch(`${ending.url}/health`).then(
    () => "answered",
    () => "nobody",
  );
  assert.is(after, "nobody");
});

test("what takes longer than the grace is cut off", async () => {
  const ending = await started({ session: apart, tokenizer: numbers }, { graceMs: 50 });
  const goOn = apart.hold(0);
  const long = post(ending, "/v1/completions", { prompt: "1", max_tokens: 500 });
  await until(async () => (await sample(ending, "kiln_running")) === 1);
  const stopped = ending.stop();
  // Timers end in their order, however slow the machine is.
  setTimeout(goOn, 100);
  await stopped;
  assert.is(await refusal(await long), "503 stopping: the server stopped");
});

test.run();
