/**
 * The page of the molecules: one that is typed, drawn with the parts that were learned, beside its
 * surface by the table.
 */
import { byId } from "../../play/dom.ts";
import { type Molecule, readSmiles, surfaceOf } from "./molecule.ts";
import { Drawing } from "./molecule-drawing.ts";
import { Lab } from "./page.ts";
import type { Surface, Surfaces } from "./views.ts";

const field = byId<HTMLInputElement>("smiles");
const drawing = new Drawing(byId("molecule"));
let molecule: Molecule | undefined;

function read(): void {
  try {
    molecule = readSmiles(field.value.trim());
  } catch (error) {
    byId("surface").textContent = (error as Error).message;
    byId("surface").classList.add("wrong");
    molecule = undefined;
    return;
  }
  byId("surface").classList.remove("wrong");
  drawing.show(molecule);
  lab.ask(molecule);
}

/** Held-back molecules: across what the table says, up what was learned; on the line they agree. */
function drawPlot({ right, learned }: Surfaces): void {
  const canvas = byId<HTMLCanvasElement>("agreement");
  const scale = devicePixelRatio;
  const [width, height] = [canvas.clientWidth * scale, canvas.clientHeight * scale];
  Object.assign(canvas, { width, height });
  const most = Math.max(...right, 1) * 1.08;
  const place = (x: number, y: number) =>
    [(x / most) * width, height - (Math.max(0, y) / most) * height] as const;
  const context = canvas.getContext("2d")!;
  const style = getComputedStyle(canvas);
  context.strokeStyle = style.borderTopColor;
  context.lineWidth = 1.5 * scale;
  context.beginPath();
  context.moveTo(...place(0, 0));
  context.lineTo(...place(most, most));
  context.stroke();
  context.fillStyle = style.color;
  right.forEach((x, i) => {
    context.beginPath();
    context.arc(...place(x, learned[i]!), 3 * scale, 0, 7);
    context.fill();
  });
}

let last: Surfaces | undefined;

const lab = new Lab<Surfaces, Molecule, Surface>({
  worker: "molecules-worker.js",
  onView(surfaces) {
    last = surfaces;
    drawPlot(surfaces);
    const { right, learned } = surfaces;
    const error = right.reduce((s, x, i) => s + Math.abs(x - learned[i]!), 0) / right.length;
    byId("accuracy").textContent =
      `off by ${error.toFixed(1)} Å² on ${right.length} molecules that it never saw`;
    if (molecule) lab.ask(molecule);
  },
  onAnswer({ parts, total }) {
    if (!molecule || parts.length !== molecule.atoms.length) return;
    drawing.parts(parts);
    byId("surface").textContent =
      `${total.toFixed(1)} Å² learned, ${surfaceOf(molecule).toFixed(1)} by the table`;
  },
});

field.addEventListener("input", read);
for (const button of document.querySelectorAll<HTMLElement>("[data-smiles]"))
  button.addEventListener("click", () => {
    field.value = button.dataset.smiles!;
    read();
  });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  if (last) drawPlot(last);
});
lab.train();
read();
