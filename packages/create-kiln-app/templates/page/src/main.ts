/** Opens the model in a worker, asks it about a grid of points, and paints what it says of each. */
import { openModel } from "kiln-ml/model";

const state = document.querySelector("#state")!;
const canvas = document.querySelector<HTMLCanvasElement>("#map")!;

async function main(): Promise<void> {
  const model = await openModel("/spirals.kiln", {
    worker: true,
    onProgress: ({ phase }) => {
      state.textContent = phase;
    },
  });
  const { width, height } = canvas;
  const x = new Float32Array(2 * width * height);
  for (let i = 0; i < width * height; i++) {
    x[2 * i] = ((i % width) / width) * 2.4 - 1.2;
    x[2 * i + 1] = (Math.floor(i / width) / height) * 2.4 - 1.2;
  }
  const started = performance.now();
  const { shares } = await model.run({ x });
  const elapsedMs = performance.now() - started;
  const image = new ImageData(width, height);
  for (let i = 0; i < width * height; i++) {
    const share = Number(shares!.data[2 * i]);
    image.data.set([40 + 200 * share, 90, 240 - 200 * share, 255], 4 * i);
  }
  canvas.getContext("2d")!.putImageData(image, 0, 0);
  state.textContent = `${width * height} points on ${model.target} in ${elapsedMs.toFixed(1)} ms`;
}

main().catch((error: unknown) => {
  state.textContent = String(error);
});
