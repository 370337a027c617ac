/**
 * A model behind HTTP: `POST /` takes rows of two numbers as JSON, `{ "x": [[0.5, 0.5]] }`, and
 * answers `{ "y": [[0.25]] }`.
 */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { openModel } from "kiln-ml/node";

// Runs are queued in the order in which they were asked for, off the event loop.
const model = await openModel("model.kiln", { worker: process.env.WORKER !== "0" });
const mostBytes = 1e6;

class BadRequest extends Error {}

async function rowsOf(request: IncomingMessage): Promise<readonly number[][]> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > mostBytes) throw new BadRequest(`the body has more than ${mostBytes} bytes`);
  }
  let body: unknown;
  try {
    body = JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    throw new BadRequest("the body is no JSON");
  }
  const { x } = (body ?? {}) as { x?: unknown };
  const isRow = (row: unknown): boolean =>
    Array.isArray(row) && row.length === 2 && row.every((v) => typeof v === "number");
  if (!Array.isArray(x) || x.length === 0 || !x.every(isRow))
    throw new BadRequest('give rows of two numbers: { "x": [[0.5, 0.5]] }');
  return x;
}

async function answer(request: IncomingMessage): Promise<unknown> {
  const rows = await rowsOf(request);
  const { y } = await model.run({ x: Float32Array.from(rows.flat()) });
  return { y: [...y!.data].map((value) => [Number(value)]) };
}

const server = createServer(async (request, response) => {
  const say = (status: number, body: unknown): void => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  };
  if (request.method !== "POST") return say(405, { error: "POST rows to this address" });
  try {
    say(200, await answer(request));
  } catch (error) {
    if (error instanceof BadRequest) return say(400, { error: error.message });
    console.error(error);
    say(500, { error: "the model could not be run" });
  }
});
server.listen(Number(process.env.PORT ?? 8080), () => {
  console.log(`http://localhost:${(server.address() as AddressInfo).port}`);
});
