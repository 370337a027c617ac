/**
 * A server that answers with a trained model: the model is compiled to an artifact, and requests
 * that come together are answered by one run.
 *
 *     node examples/server.ts [--port 8080] [--steps 300] [--quick]
 *
 *     curl -d '[[0.1, 0.2]]' localhost:8080
 *
 * Without a port it asks itself 100 times at once, and ends.
 */
import { createServer, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { compile, defaultTarget, exportArtifact, nn, optim, type Tensor } from "kiln-ml";
import { openModel, writeArtifact } from "kiln-ml/node";
import { quick, randomNumbers } from "./data.ts";
import { outputs } from "./pictures.ts";

const { values } = parseArgs({
  options: { port: { type: "string", default: "0" }, steps: { type: "string", default: "300" } },
  strict: false,
});

/**
 * Points within a circle from those outside: trained in a second, so that there is something to
 * serve.
 */
async function artifactOfCircle(): Promise<string> {
  nn.seed(1);
  const net = new nn.Sequential(new nn.Linear(2, 32), new nn.ReLU(), new nn.Linear(32, 1));
  const adam = new optim.Adam(net.parameters(), { lr: 0.01 });
  const draw = randomNumbers(1);
  const step = compile((x: Tensor, y: Tensor) => adam.step(nn.bceWithLogits(net.forward(x), y)));
  for (let i = 0; i < Number(values.steps); i++) {
    const points = Array.from({ length: 64 }, () => [2 * draw() - 1, 2 * draw() - 1]);
    await step(
      points,
      points.map(([a, b]) => [Number(Math.hypot(a!, b!) < 0.7)]),
    );
  }
  // "N": one program answers for any number of points.
  const inside = (points: Tensor) => ({ inside: net.forward(points).sigmoid() });
  // Trained where the process is told to, and served by the CPU: what opens models takes no adapter
  // in software.
  const target = defaultTarget() === "js" ? "js" : "wasm";
  const artifact = await exportArtifact(inside, {
    inputs: [{ shape: ["N", 2], name: "points" }],
    target,
  });
  const path = join(outputs, "circle.kiln");
  await writeArtifact(path, artifact);
  return path;
}

const model = await openModel(await artifactOfCircle());

/** Requests that wait for the next run, which answers them all. */
interface Waiting {
  readonly points: readonly (readonly number[])[];
  readonly answer: (inside: number[]) => void;
  readonly fail: (error: unknown) => void;
}
let waiting: Waiting[] = [];
let [runs, answers] = [0, 0];

function ask(points: readonly (readonly number[])[]): Promise<number[]> {
  return new Promise((answer, fail) => {
    // The first of a moment starts a run; those that come until it begins go along.
    if (!waiting.length) setTimeout(answerAll, 2);
    waiting.push({ points, answer, fail });
  });
}

async function answerAll(): Promise<void> {
  const batch = waiting;
  waiting = [];
  try {
    const points = batch.flatMap((w) => w.points);
    const input = { data: Float32Array.from(points.flat()), shape: [points.length, 2] };
    const { inside } = await model.run({ points: input });
    const found = Array.from(inside!.data as Float32Array);
    runs++;
    for (const w of batch) {
      w.answer(found.splice(0, w.points.length));
      answers++;
    }
  } catch (error) {
    for (const w of batch) w.fail(error);
  }
}

const isPoint = (p: unknown): p is number[] =>
  Array.isArray(p) && p.length === 2 && p.every(Number.isFinite);

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let text = "";
  for await (const part of request) {
    text += part;
    if (text.length > 1e6) return undefined;
  }
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const server = createServer(async (request, response) => {
  const points = await bodyOf(request);
  if (!Array.isArray(points) || !points.length || !points.every(isPoint)) {
    response.writeHead(400).end("send points as JSON: [[0.1, 0.2]]\n");
    return;
  }
  try {
    response.end(`${JSON.stringify(await ask(points))}\n`);
  } catch {
    response.writeHead(500).end("the model could not run\n");
  }
});
await new Promise<void>((listens) => server.listen(Number(values.port), "127.0.0.1", listens));
const { port } = server.address() as { readonly port: number };
const url = `http://127.0.0.1:${port}/`;
console.log(`serves at ${url}`);

if (quick || values.port === "0") {
  const post = async (points: unknown) =>
    (await fetch(url, { method: "POST", body: JSON.stringify(points) })).text();
  console.log((await post("no points")).trim());
  const draw = randomNumbers(2);
  const points = Array.from({ length: 100 }, () => [2 * draw() - 1, 2 * draw() - 1]);
  const told = await Promise.all(points.map(async (p) => JSON.parse(await post([p]))[0] as number));
  const right = points.filter(([a, b], i) => told[i]! > 0.5 === Math.hypot(a!, b!) < 0.7).length;
  server.close();
  server.closeAllConnections();
  await model.dispose();
  console.log(`${right} of 100 answers are right: ${answers} requests in ${runs} runs`);
}
