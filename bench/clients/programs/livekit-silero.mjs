/** `@livekit/agents-plugin-silero`: the stream of a VAD with frames of audio pushed into it. */
import { mark, median, report, speech } from "./measure.mjs";

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
for (let at = 0; at < windows * 512; at += 512)
  stream.pushFrame(new AudioFrame(samples.slice(at, at + 512), 16000, 1, 512));
const values = [];
// The stream asks for a window when it has the last one: the first time is until its first answer.
const times = [];
let last = performance.now();
for await (const event of stream) {
  if (event.type !== VADEventType.INFERENCE_DONE) continue;
  const now = performance.now();
  times.push(now - last);
  last = now;
  values.push(event.probability);
  if (values.length === windows) break;
}
report({ values, firstMs: times[0], runMs: median(times.slice(1)) });
