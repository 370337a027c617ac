/** The page of the U-Net: a picture under what is found in it, and scenes that were held back. */
import { byId, h } from "../../play/dom.ts";
import { sampleImage } from "../sample-image.ts";
import { Lab } from "./page.ts";
import type { Held, Scene, Segmented } from "./views.ts";

/** Pixels a side of the picture that the network sees. */
const side = 96;

/** What is no thing fades; an edge of what is one is drawn in the accent. */
function overlay({ side: of, rgba, mask }: Segmented): ImageData {
  const image = new ImageData(new Uint8ClampedArray(rgba), of, of);
  const seen = (x: number, y: number): boolean =>
    x >= 0 && y >= 0 && x < of && y < of && mask[y * of + x]! > 0.5;
  for (let i = 0; i < of * of; i++) {
    const [x, y] = [i % of, Math.floor(i / of)];
    const isEdge =
      seen(x, y) && !(seen(x - 1, y) && seen(x + 1, y) && seen(x, y - 1) && seen(x, y + 1));
    const [tint, share] = isEdge ? [edge, 1] : seen(x, y) ? [edge, 0.25] : [fog, 0.55];
    for (let c = 0; c < 3; c++)
      image.data[4 * i + c] = (1 - share) * rgba[4 * i + c]! + share * tint[c]!;
  }
  return image;
}

const [edge, fog] = [
  [240, 110, 40],
  [128, 128, 128],
] as const;

function draw(canvas: HTMLCanvasElement, picture: Segmented): HTMLCanvasElement {
  canvas.width = picture.side;
  canvas.height = picture.side;
  canvas.getContext("2d")!.putImageData(overlay(picture), 0, 0);
  return canvas;
}

const given = byId<HTMLCanvasElement>("given");

/** The picture's middle, square. */
function put(image: CanvasImageSource, width: number, height: number): void {
  const least = Math.min(width, height);
  given.width = side;
  given.height = side;
  const context = given.getContext("2d", { willReadFrequently: true })!;
  const from = [(width - least) / 2, (height - least) / 2, least, least] as const;
  context.drawImage(image, ...from, 0, 0, side, side);
  look();
}

const look = (): void => {
  const rgba = given
    .getContext("2d", { willReadFrequently: true })!
    .getImageData(0, 0, side, side).data;
  lab.ask({ side, rgba });
};

const lab = new Lab<Held, Scene, Segmented>({
  worker: "unet-worker.js",
  onStart() {
    byId("accuracy").textContent = "";
  },
  onView({ scenes, overlap }) {
    byId("scenes").replaceChildren(
      ...scenes.map((s) =>
        draw(h("canvas", { role: "img", "aria-label": "a held-back scene" }), s),
      ),
    );
    byId("accuracy").textContent =
      `${(100 * overlap).toFixed(0)} % overlap on scenes that it never saw`;
    look();
  },
  onAnswer(picture) {
    draw(byId<HTMLCanvasElement>("overlay"), picture);
  },
});

async function take(file: File | undefined): Promise<void> {
  if (!file) return;
  try {
    const image = await createImageBitmap(file);
    put(image, image.width, image.height);
  } catch {
    byId("accuracy").textContent = `${file.name} is no picture that this browser reads`;
  }
}

byId("file").addEventListener("change", () => take(byId<HTMLInputElement>("file").files?.[0]));
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => {
  event.preventDefault();
  take(event.dataTransfer?.files[0]);
});

lab.train();
const sample = sampleImage(side);
put(sample, side, side);
