/**
 * A process with TensorFlow.js on one backend, which is asked as the processes of networks are:
 * `node tfjs-worker.mjs BACKEND TARGET`. Bundled beside the packages of tfjs by `tfjs.ts`.
 */
import { createRequire } from "node:module";
import { programs } from "./tfjs-programs.mjs";

const [, , backend, target] = process.argv;
const load = createRequire(import.meta.url);
// It advertises its Node bindings on these.
console.warn = () => {};
console.error = () => {};
if (backend === "webgpu") await import("../gpu-peers/navigator.mjs");
const tf = load("@tensorflow/tfjs");
if (backend !== "kiln" && backend !== "cpu") load(`@tensorflow/tfjs-backend-${backend}`);
if (backend === "kiln") {
  const { setTarget } = await import("@kiln-ml/tfjs");
  setTarget(target);
}
if (!(await tf.setBackend(backend))) throw new Error(`bench: tfjs has no backend ${backend}`);
await tf.ready();
tf.enableProdMode();

const onCard = target === "webgpu" || backend === "webgpu";
let base = process.memoryUsage().rss;
let work;

/** Milliseconds of CPU, of all threads; of the day where a card does the work. */
function now() {
  if (onCard) return performance.now();
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

async function setUp(name) {
  base = process.memoryUsage().rss;
  work = programs[name](tf, onCard);
  const start = now();
  await work.unit();
  const firstMs = now() - start;
  const data = await work.value();
  return { results: { y: { type: "float32", dims: [data.length], data } }, firstMs };
}

async function timed(times) {
  const start = now();
  for (let i = 0; i < times; i++) await work.unit();
  return (now() - start) / times;
}

async function answer({ ask, network, times }) {
  if (ask === "setup") return { setup: await setUp(network) };
  if (ask === "time") return { ms: await timed(times) };
  return { peakBytes: process.resourceUsage().maxRSS * 1024 - base };
}

process.on("message", async (question) => {
  const reply = await answer(question).catch((error) => ({
    error: `${error.name}: ${error.message}`,
  }));
  process.send(reply);
});
process.send({ ready: true });
