/** The page's part of train.ts: opens the artifact, and asks it about what is drawn. */
import { openModel } from "kiln-ml/model";

const find = <T extends Element>(id: string): T => document.querySelector<T>(`#${id}`)!;
const [sheet, state, guess] = [find<HTMLCanvasElement>("sheet"), find("state"), find("guess")];
const pen = sheet.getContext("2d", { willReadFrequently: true })!;
const side = 28;

interface Samples {
  /** Ten images of 28 × 28, 0 to 255. */
  readonly images: readonly number[];
  readonly labels: readonly number[];
}

const bars = Array.from({ length: 10 }, (_, digit) => {
  const [name, bar, share] = ["b", "span", "em"].map((tag) => document.createElement(tag));
  name!.textContent = String(digit);
  find("bars").append(name!, bar!, share!);
  return { bar: bar!, share: share! };
});

function show(chances: ArrayLike<number>): void {
  let best = 0;
  for (const [digit, { bar, share }] of bars.entries()) {
    const p = chances[digit]!;
    bar.style.width = `${100 * p}%`;
    share.textContent = `${(100 * p).toFixed(1)} %`;
    if (p > chances[best]!) best = digit;
  }
  guess.textContent = String(best);
}

function clear(): void {
  pen.clearRect(0, 0, sheet.width, sheet.height);
  guess.textContent = "";
  for (const { bar, share } of bars) {
    bar.style.width = "0";
    share.textContent = "";
  }
}

/** A canvas of `size` × `size`, and what draws on it. */
function canvasOf(size: number): CanvasRenderingContext2D {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = size;
  return canvas.getContext("2d", { willReadFrequently: true })!;
}

/** The part of the sheet that is drawn on: left, top, width, height. */
function drawn(): [number, number, number, number] | undefined {
  const { width, height } = sheet;
  const { data } = pen.getImageData(0, 0, width, height);
  let [left, top, right, bottom] = [width, height, -1, -1];
  for (let at = 0; at < width * height; at++) {
    if (!data[4 * at + 3]) continue;
    const [x, y] = [at % width, Math.floor(at / width)];
    [left, right] = [Math.min(left, x), Math.max(right, x)];
    [top, bottom] = [Math.min(top, y), Math.max(bottom, y)];
  }
  return right < 0 ? undefined : [left, top, right - left + 1, bottom - top + 1];
}

/**
 * As the digits of the set were made: within a box of 20 × 20, and the centre of mass in the middle
 * of 28 × 28.
 */
function asDigit([x, y, width, height]: [number, number, number, number]): Float32Array {
  const scale = 20 / Math.max(width, height);
  const small = canvasOf(side);
  const place = (left: number, top: number): Float32Array => {
    small.clearRect(0, 0, side, side);
    small.drawImage(sheet, x, y, width, height, left, top, width * scale, height * scale);
    const { data } = small.getImageData(0, 0, side, side);
    return Float32Array.from({ length: side * side }, (_, i) => data[4 * i + 3]! / 255);
  };
  const [left, top] = [(side - width * scale) / 2, (side - height * scale) / 2];
  const middle = place(left, top);
  const mass = middle.reduce((sum, v) => sum + v, 0);
  const mean = (of: (i: number) => number): number =>
    middle.reduce((sum, v, i) => sum + v * of(i), 0) / mass;
  const [cx, cy] = [mean((i) => i % side), mean((i) => Math.floor(i / side))];
  return place(left + (side - 1) / 2 - cx, top + (side - 1) / 2 - cy);
}

async function main(): Promise<void> {
  const model = await openModel(new URL("digits.kiln", location.href));
  const ask = async (image: Float32Array): Promise<void> => {
    const started = performance.now();
    const { chances } = await model.run({ images: { data: image, shape: [1, side * side] } });
    show(chances!.data as Float32Array);
    state.textContent = `read on ${model.target} in ${(performance.now() - started).toFixed(1)} ms`;
  };
  let before: PointerEvent | undefined;
  sheet.onpointerdown = (event) => {
    sheet.setPointerCapture(event.pointerId);
    before = event;
  };
  sheet.onpointermove = (event) => {
    if (!before) return;
    [pen.lineWidth, pen.lineCap, pen.strokeStyle] = [20, "round", "#fff"];
    pen.beginPath();
    pen.moveTo(before.offsetX, before.offsetY);
    pen.lineTo(event.offsetX, event.offsetY);
    pen.stroke();
    before = event;
  };
  sheet.onpointerup = async () => {
    before = undefined;
    const box = drawn();
    if (box) await ask(asDigit(box));
  };
  find<HTMLButtonElement>("clear").onclick = clear;
  const samples: Samples = await (await fetch("samples.json")).json();
  for (const [i, label] of samples.labels.entries()) {
    const image = Float32Array.from(
      samples.images.slice(i * side * side, (i + 1) * side * side),
      (v) => v / 255,
    );
    const thumb = canvasOf(side);
    const grey = thumb.createImageData(side, side);
    for (const [at, v] of image.entries()) grey.data.set([255 * v, 255 * v, 255 * v, 255], 4 * at);
    thumb.putImageData(grey, 0, 0);
    thumb.canvas.title = `a ${label}`;
    thumb.canvas.onclick = () => {
      clear();
      return ask(image);
    };
    find("samples").append(thumb.canvas);
  }
  state.textContent = `ready, on ${model.target}`;
}

main().catch((error: unknown) => {
  state.textContent = String(error);
});
