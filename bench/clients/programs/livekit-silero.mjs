/** `@livekit/agents-plugin-silero`: the stream of a VAD with frames of audio pushed into it. */
import { mark, report, speech } from "./measure.mjs";

const { initializeLogger, VADEventType } = await import("@livekit/agents");
const { AudioFrame } = await import("@livekit/rtc-node");
const silero = await import("@livekit/agents-plugin-silero");
initializeLogger({ pretty: false, level: "silent" });
mark("importMs");
const vad = await silero.VAD.load();
mark("createMs");
const audio = speech(6);
const stream = vad.stream();
const samples = Int16Array.from(audio, (x) => Math.round(32767 * x));
const windows = Math.floor(samples.length / 512);
const before = performance.now();
for (let at = 0; at < windows * 512; at += 512)
  stream.pushFrame(new AudioFrame(samples.slice(at, at + 512), 16000, 1, 512));
const values = [];
for await (const event of stream) {
  if (event.type === VADEventType.INFERENCE_DONE) values.push(event.probability);
  if (values.length === windows) break;
}
const ms = performance.now() - before;
report({ values, firstMs: ms, runMs: ms / windows });
