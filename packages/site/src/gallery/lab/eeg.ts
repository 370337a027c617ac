/**
 * The page of the signals: a second of eight electrodes, the hand it is taken for, and where on the
 * head that was read.
 */
import { byId, h } from "../../play/dom.ts";
import { Lab } from "./page.ts";
import { type Person, person, trial } from "./signals.ts";
import { electrodes, type Heard, type Listened, rate, type Window } from "./views.ts";

/** Places on a head seen from above, nose up, in a box of 100. */
const places: Readonly<Record<(typeof electrodes)[number], readonly [number, number]>> = {
  F3: [34, 28],
  F4: [66, 28],
  C3: [25, 52],
  C4: [75, 52],
  P3: [31, 72],
  P4: [69, 72],
  O1: [38, 90],
  O2: [62, 90],
};

let somebody: Person = person();
let hand = 0;

function drawTraces(window: Window): void {
  const canvas = byId<HTMLCanvasElement>("traces");
  const scale = devicePixelRatio;
  const [width, height] = [canvas.clientWidth * scale, canvas.clientHeight * scale];
  Object.assign(canvas, { width, height });
  const context = canvas.getContext("2d")!;
  const row = height / electrodes.length;
  context.font = `${11 * scale}px ui-monospace, monospace`;
  electrodes.forEach((name, e) => {
    const middle = row * (e + 0.5);
    context.fillStyle = getComputedStyle(document.body).color;
    context.fillText(name, 8 * scale, middle + 4 * scale);
    context.strokeStyle = getComputedStyle(canvas).color;
    context.lineWidth = 1.3 * scale;
    context.beginPath();
    for (let t = 0; t < rate; t++) {
      const x = 36 * scale + ((width - 44 * scale) * t) / (rate - 1);
      context.lineTo(x, middle - (window[e * rate + t]! * row) / 9);
    }
    context.stroke();
  });
}

const svg = "http://www.w3.org/2000/svg";
function mark(name: string, attributes: Readonly<Record<string, string | number>>): SVGElement {
  const element = document.createElementNS(svg, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  return element;
}

function drawHead(weights: readonly number[]): void {
  const head = byId("head");
  head.replaceChildren(
    mark("path", { d: "M44 8 L50 1 L56 8", class: "outline" }),
    mark("circle", { cx: 50, cy: 54, r: 46, class: "outline" }),
  );
  electrodes.forEach((name, e) => {
    const [x, y] = places[name];
    const weight = weights[e] ?? 0;
    head.append(mark("circle", { cx: x, cy: y, r: 8, class: "place" }));
    head.append(mark("circle", { cx: x, cy: y, r: 8, class: "weight", opacity: weight }));
    const text = mark("text", { x, y: y + 2 });
    text.textContent = name;
    head.append(text);
  });
}

function score(shares: readonly number[] | undefined): void {
  const rows = [...byId("scores").children];
  rows.forEach((row, i) => {
    const share = shares?.[i] ?? 0;
    row.classList.toggle("best", share > 0.5);
    row.querySelector("i")!.style.width = `${100 * share}%`;
    row.querySelector("em")!.textContent = shares ? `${Math.round(100 * share)} %` : "";
  });
}

byId("scores").append(
  ...["left", "right"].map((name) =>
    h(
      "div",
      { class: "score" },
      h("b", {}, name),
      h("span", { class: "track" }, h("i", {})),
      h("em", {}),
    ),
  ),
);

let window: Window = trial(somebody, hand);
const look = (): void => lab.ask(window);

function imagine(next: number): void {
  hand = next;
  window = trial(somebody, hand);
  drawTraces(window);
  byId("imagined").textContent = `imagined: ${hand ? "right" : "left"} hand`;
  look();
}

const lab = new Lab<Listened, Window, Heard>({
  worker: "eeg-worker.js",
  onStart() {
    score(undefined);
    drawHead([]);
  },
  onView({ accuracy }) {
    byId("accuracy").textContent =
      `${(100 * accuracy).toFixed(0)} % of 80 seconds of four people that it never heard`;
    look();
  },
  onAnswer({ shares, weights }) {
    score(shares);
    drawHead(weights);
  },
});

byId("left").addEventListener("click", () => imagine(0));
byId("right").addEventListener("click", () => imagine(1));
byId("person").addEventListener("click", () => {
  somebody = person();
  imagine(hand);
});
lab.train();
imagine(0);
addEventListener("resize", () => drawTraces(window));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawTraces(window));
