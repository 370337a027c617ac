/** The page of the two networks: a grid of what is painted, beside real ones. */
import { byId } from "../../play/dom.ts";
import { Lab } from "./page.ts";
import { paintedGrid as grid, type Painted, paintedSide as side } from "./views.ts";

/** Pictures from 0 to 1 in rows; ink is what is opaque, in the colour of the canvas. */
function drawGrid(canvas: HTMLCanvasElement, pictures: Float32Array): void {
  const gap = 2;
  const width = grid * (side + gap) - gap;
  canvas.width = width;
  canvas.height = width;
  const context = canvas.getContext("2d")!;
  const ink = getComputedStyle(canvas).color.match(/\d+/g)!.map(Number);
  for (let n = 0; n < grid * grid; n++) {
    const rgba = new Uint8ClampedArray(4 * side * side);
    for (let i = 0; i < side * side; i++)
      rgba.set([ink[0]!, ink[1]!, ink[2]!, 255 * pictures[n * side * side + i]!], 4 * i);
    const [x, y] = [(n % grid) * (side + gap), Math.floor(n / grid) * (side + gap)];
    context.putImageData(new ImageData(rgba, side, side), x, y);
  }
}

let last: Painted | undefined;

function draw(): void {
  if (!last) return;
  drawGrid(byId<HTMLCanvasElement>("painted"), last.painted);
  drawGrid(byId<HTMLCanvasElement>("real"), last.real);
}

const show = (painted: Painted): void => {
  last = painted;
  draw();
};

const lab = new Lab<Painted, null, Painted>({
  worker: "gan-worker.js",
  onView: show,
  onAnswer: show,
});
byId("others").addEventListener("click", () => lab.ask(null));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
lab.train();
