/** `@ricky0123/vad-web` in a page: probabilities of frames, and the segments that come of them. */
import { NonRealTimeVAD } from "@ricky0123/vad-web";
import { mark, outcome, speech, timed } from "./measure.mjs";

globalThis.result = (async () => {
  mark("importMs");
  const vad = await NonRealTimeVAD.new({
    modelURL: "/silero_vad_legacy.onnx",
    positiveSpeechThreshold: 0.5,
    ortConfig: (ort) => {
      ort.env.wasm.wasmPaths = "/";
      ort.env.wasm.numThreads = 1;
    },
  });
  mark("createMs");
  const audio = speech(4);
  const values = [];
  for (let at = 0; at + 1536 <= audio.length; at += 1536) {
    const frame = audio.slice(at, at + 1536);
    values.push((await vad.frameProcessor.modelProcessFunc(frame)).isSpeech);
  }
  vad.frameProcessor.modelResetFunc();
  for await (const { start, end } of vad.run(audio, 16000)) values.push(start, end);
  const frame = audio.slice(16000, 17536);
  const times = await timed(() => vad.frameProcessor.modelProcessFunc(frame), { times: 50 });
  return outcome({ values, ...times });
})().catch((error) => String(error.stack));
