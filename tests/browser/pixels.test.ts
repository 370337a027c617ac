/** Canvases, bitmaps, frames, videos and sound of a page as inputs, and a result drawn. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { browserTest, bundleForPage, pageOf, resultOf, withPage } from "../support/browser.ts";

const text = `
import { data } from "kiln-ml";

/** Four by two, the left half red, the right half of this green. */
function drawn(canvas) {
  const context = canvas.getContext("2d");
  context.fillStyle = "rgb(255, 0, 0)";
  context.fillRect(0, 0, 2, 2);
  context.fillStyle = "rgb(0, 128, 0)";
  context.fillRect(2, 0, 2, 2);
  return canvas;
}

/** A video of what a canvas shows. */
async function videoOf(canvas) {
  const video = document.createElement("video");
  video.muted = true;
  video.srcObject = canvas.captureStream(30);
  const loaded = new Promise((done) => video.addEventListener("loadeddata", done));
  await video.play();
  await loaded;
  return video;
}

async function sources() {
  const element = document.createElement("canvas");
  [element.width, element.height] = [4, 2];
  drawn(element);
  const offscreen = drawn(new OffscreenCanvas(4, 2));
  const image = new Image();
  image.src = element.toDataURL();
  await image.decode();
  const pixels = element.getContext("2d").getImageData(0, 0, 4, 2);
  const bitmap = await createImageBitmap(element);
  return { element, offscreen, image, pixels, bitmap, frame: new VideoFrame(bitmap, { timestamp: 0 }) };
}

async function main() {
  const found = {};
  for (const [name, source] of Object.entries(await sources())) {
    const { data: x, shape } = data.fromPixels(source);
    const half = data.fromPixels(source, { size: [1, 2] });
    found[name] = { x: [...x], shape, half: half.shape };
  }
  // A codec rounds: of a video the size and the kind of its colours are told.
  const large = document.createElement("canvas");
  [large.width, large.height] = [64, 32];
  const context = large.getContext("2d");
  context.fillStyle = "rgb(255, 0, 0)";
  context.fillRect(0, 0, 64, 32);
  const video = await videoOf(large);
  const of = data.fromPixels(video);
  const at = 16 * 64 + 32;
  const seen = { shape: of.shape, colour: [of.data[at], of.data[2048 + at], of.data[4096 + at]] };
  const shown = document.createElement("canvas");
  const back = await data.toPixels({ data: Float32Array.of(0, 1, 0.5, 2), shape: [2, 2] }, { canvas: shown });
  const drawnBack = shown.getContext("2d").getImageData(0, 0, 2, 2);
  const audio = new OfflineAudioContext(2, 100, 8000).createBuffer(2, 100, 8000);
  audio.getChannelData(1).fill(0.5);
  const sound = data.fromAudio(audio, { mono: true, rateHz: 4000 });
  return {
    found, seen,
    isImageData: back instanceof ImageData,
    size: [shown.width, shown.height],
    drawn: [...drawnBack.data],
    sound: [sound.shape, sound.rateHz, sound.data[25]],
  };
}
globalThis.result = main().catch((error) => String(error?.stack ?? error));`;

interface Found {
  readonly found: Record<string, { x: number[]; shape: number[]; half: number[] }>;
  readonly seen: { shape: number[]; colour: number[] };
  readonly isImageData: boolean;
  readonly size: number[];
  readonly drawn: number[];
  readonly sound: [number[], number, number];
}

browserTest("whatever a page shows is read the same, and a result is drawn", async () => {
  await withPage(pageOf(await bundleForPage({ text })), async (page, { errors }) => {
    const result = (await resultOf(page)) as Found;
    assert.type(result, "object", String(result));
    const row = (left: number, right: number) => [
      left,
      left,
      right,
      right,
      left,
      left,
      right,
      right,
    ];
    const planes = [...row(1, 0), ...row(0, Math.fround(128 / 255)), ...row(0, 0)];
    assert.is(Object.keys(result.found).length, 6);
    for (const [name, { x, shape, half }] of Object.entries(result.found)) {
      assert.equal(shape, [1, 3, 2, 4], name);
      assert.equal(half, [1, 3, 1, 2], name);
      for (const [i, v] of planes.entries())
        assert.ok(Math.abs(x[i]! - v) < 2 / 255, `${name} ${i}: ${x[i]} for ${v}`);
    }
    assert.equal(result.seen.shape, [1, 3, 32, 64]);
    const [red, green, blue] = result.seen.colour;
    assert.ok(red! > 0.8 && green! < 0.2 && blue! < 0.2, `${result.seen.colour}`);
    assert.ok(result.isImageData);
    assert.equal(result.size, [2, 2]);
    const grey = [0, 255, 128, 255].flatMap((v) => [v, v, v, 255]);
    assert.equal(result.drawn, grey);
    assert.equal(result.sound.slice(0, 2), [[1, 50], 4000]);
    assert.ok(Math.abs(result.sound[2] - 0.25) < 1e-6);
    assert.equal(errors, []);
  });
});

test.run();
