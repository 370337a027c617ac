/** Trains the network of the digits page off its thread, and classifies what is drawn meanwhile. */
import { openTarget } from "./device.ts";
import type { FromDigits, ToDigits } from "./digits-messages.ts";
import { digitsNet } from "./digits-net.ts";

interface Scope {
  postMessage(message: FromDigits): void;
  addEventListener(kind: "message", listen: (event: { readonly data: ToDigits }) => void): void;
}
const scope = globalThis as unknown as Scope;
const post = (message: FromDigits): void => scope.postMessage(message);

const pixels = 28 * 28;
const [batch, heldBack] = [32, 250];

interface Digits {
  readonly images: Float32Array;
  readonly labels: Int32Array;
}

/** The file that the site's build wrote: a label and 784 bytes a digit, deflated. */
async function fetchDigits(): Promise<Digits> {
  const response = await fetch(new URL("digits.bin", import.meta.url));
  const inflated = response.body!.pipeThrough(new DecompressionStream("gzip"));
  const bytes = new Uint8Array(await new Response(inflated).arrayBuffer());
  const count = bytes.length / (pixels + 1);
  const images = new Float32Array(count * pixels);
  const labels = new Int32Array(count);
  for (let i = 0; i < count; i++) {
    labels[i] = bytes[i * (pixels + 1)]!;
    for (let p = 0; p < pixels; p++)
      images[i * pixels + p] = bytes[i * (pixels + 1) + 1 + p]! / 255;
  }
  return { images, labels };
}

let net: ReturnType<typeof digitsNet> | undefined;

async function train(steps: number, { images, labels }: Digits): Promise<void> {
  const made = digitsNet(steps);
  const count = labels.length - heldBack;
  const x = { data: new Float32Array(batch * pixels), shape: [batch, pixels] };
  const y = { data: new Int32Array(batch), shape: [batch] };
  for (let i = 1; i <= steps; i++) {
    for (let b = 0; b < batch; b++) {
      const at = Math.floor(Math.random() * count);
      x.data.set(images.subarray(at * pixels, (at + 1) * pixels), b * pixels);
      y.data[b] = labels[at]!;
    }
    const loss = await (await made.step(x, y)).item();
    net = made;
    post({ kind: "step", step: i, loss });
    if (i % 50 === 0 || i === steps) await check({ images, labels });
  }
}

/** Classifies what was held back, and shows those it is wrong about first. */
async function check({ images, labels }: Digits): Promise<void> {
  const first = labels.length - heldBack;
  const x = { data: images.subarray(first * pixels), shape: [heldBack, pixels] };
  const scores = await (await net!.classify(x)).data();
  const all = Array.from({ length: heldBack }, (_, i) => {
    const row = Array.from(scores.slice(10 * i, 10 * i + 10), Number);
    const at = first + i;
    const own = images.slice(at * pixels, (at + 1) * pixels);
    return { pixels: own, label: labels[at]!, guess: row.indexOf(Math.max(...row)) };
  });
  const right = all.filter(({ label, guess }) => label === guess);
  const wrong = all.filter(({ label, guess }) => label !== guess);
  const shown = [...wrong, ...right].slice(0, 40);
  post({ kind: "checked", accuracy: right.length / heldBack, shown });
}

async function answer(message: ToDigits): Promise<void> {
  if (message.kind === "train") {
    post({ kind: "ready", device: await openTarget(message.target) });
    await train(message.steps, await fetchDigits());
  } else if (message.kind === "classify" && net) {
    const x = { data: message.pixels, shape: [1, pixels] };
    const scores = (await (await net.classify(x)).data()) as Float32Array;
    post({ kind: "classified", id: message.id, scores });
  } else if (message.kind === "inspect" && net) {
    post({ kind: "inspection", inspection: await net.step.inspect() });
  }
}

scope.addEventListener("message", ({ data }) => {
  answer(data).catch((error) => post({ kind: "failed", text: String(error) }));
});
