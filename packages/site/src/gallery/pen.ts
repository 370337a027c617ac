/** A sheet to draw on, and what is on it as a digit of MNIST: 28 × 28 pixels, the ink in a box of 20, its mass in the middle. */

const side = 28;
const box = 20;

export class Pen {
  readonly #canvas: HTMLCanvasElement;
  readonly #context: CanvasRenderingContext2D;
  readonly #drawn: () => void;

  constructor(canvas: HTMLCanvasElement, drawn: () => void) {
    this.#canvas = canvas;
    this.#drawn = drawn;
    this.#context = canvas.getContext("2d", { willReadFrequently: true })!;
    this.clear();
    let last: PointerEvent | undefined;
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.#line(event, event);
      last = event;
    });
    canvas.addEventListener("pointermove", (event) => {
      if (event.buttons) this.#line(last ?? event, event);
      last = event.buttons ? event : undefined;
    });
  }

  clear(): void {
    this.#context.clearRect(0, 0, this.#canvas.width, this.#canvas.height);
  }

  #line(from: PointerEvent, to: PointerEvent): void {
    const scale = this.#canvas.width / this.#canvas.clientWidth;
    const context = this.#context;
    context.strokeStyle = getComputedStyle(this.#canvas).color;
    context.lineWidth = this.#canvas.width / 13;
    context.lineCap = "round";
    context.beginPath();
    context.moveTo(from.offsetX * scale, from.offsetY * scale);
    context.lineTo(to.offsetX * scale + 0.01, to.offsetY * scale);
    context.stroke();
    this.#drawn();
  }

  /** The pixels from 0 to 1, or undefined where nothing is drawn. */
  digit(): Float32Array | undefined {
    const { width, height } = this.#canvas;
    const { data } = this.#context.getImageData(0, 0, width, height);
    const ink = (x: number, y: number): number => data[4 * (y * width + x) + 3]! / 255;
    let [left, top, right, bottom, mass, mx, my] = [width, height, -1, -1, 0, 0, 0];
    for (let y = 0; y < height; y++)
      for (let x = 0; x < width; x++) {
        const v = ink(x, y);
        if (v === 0) continue;
        left = Math.min(left, x);
        right = Math.max(right, x);
        top = Math.min(top, y);
        bottom = Math.max(bottom, y);
        mass += v;
        mx += v * x;
        my += v * y;
      }
    if (mass === 0) return undefined;
    const scale = box / (Math.max(right - left, bottom - top) + 1);
    const small = new OffscreenCanvas(side, side).getContext("2d", { willReadFrequently: true })!;
    small.imageSmoothingQuality = "high";
    small.setTransform(
      scale,
      0,
      0,
      scale,
      side / 2 - (scale * mx) / mass,
      side / 2 - (scale * my) / mass,
    );
    small.drawImage(this.#canvas, 0, 0);
    const pixels = small.getImageData(0, 0, side, side).data;
    return Float32Array.from({ length: side * side }, (_, i) => pixels[4 * i + 3]! / 255);
  }
}
