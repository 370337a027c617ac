/**
 * What every program of a client uses: sounds that a formula makes, and a clock. Prints one line of
 * JSON with the times, and the numbers by which results are compared.
 */
const started = performance.now();
const marks = [];

/** The time since the last mark goes to `name`. */
export function mark(name) {
  const last = marks.length ? marks.at(-1).at : started;
  const at = performance.now();
  marks.push({ name, at, ms: at - last });
}

export const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];

/**
 * Calls `work` until it was called often enough or took long enough; the median of its times,
 * without the first.
 */
export async function timed(work, { times = 30, limitMs = 5000 } = {}) {
  const taken = [];
  const from = performance.now();
  for (let i = 0; i <= times && (i < 3 || performance.now() - from < limitMs); i++) {
    const before = performance.now();
    await work(i);
    taken.push(performance.now() - before);
  }
  return { firstMs: taken[0], runMs: median(taken.slice(1)) };
}

/** `seconds` of 16 kHz: a voiced sound with formants that comes and goes, over a little noise. */
export function speech(seconds, rate = 16000) {
  const out = new Float32Array(seconds * rate);
  let state = 1;
  for (let i = 0; i < out.length; i++) {
    const t = i / rate;
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const noise = state / 2 ** 32 - 0.5;
    const pitch = 120 + 30 * Math.sin(2 * Math.PI * 0.7 * t);
    let voice = 0;
    for (let h = 1; h <= 20; h++) {
      const f = h * pitch;
      const gain = Math.exp(-(((f - 600) / 400) ** 2)) + 0.6 * Math.exp(-(((f - 1700) / 500) ** 2));
      voice += gain * Math.sin(2 * Math.PI * f * t);
    }
    const on = Math.sin(2 * Math.PI * 0.4 * t) > -0.2 ? 1 : 0;
    const syllable = 0.5 + 0.5 * Math.sin(2 * Math.PI * 4 * t);
    out[i] = 0.15 * on * syllable * voice + 0.01 * noise;
  }
  return out;
}

/** What is told of a program, with the times of its marks. */
export function outcome({ values, ...more }) {
  const loadMs = Object.fromEntries(marks.map(({ name, ms }) => [name, ms]));
  return { ...loadMs, ...more, values: Array.from(values) };
}

/** Ends the process, for some clients keep it alive. */
export function report(results) {
  const peakMb = process.resourceUsage().maxRSS / 1024;
  const line = JSON.stringify({ ...outcome(results), peakMb });
  process.stdout.write(`\n#result ${line}\n`, () => process.exit(0));
}
