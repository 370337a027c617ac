/**
 * A molecule in the plane: atoms as far apart as the bonds between them are many, as nearly as can
 * be, and what is learned around them.
 */
import type { Molecule } from "./molecule.ts";

type Point = readonly [x: number, y: number];

/** Bonds between any two atoms on the shortest way; far where there is none. */
function distances({ atoms, bonds }: Molecule): number[][] {
  const near = atoms.map((): number[] => []);
  for (const { from, to } of bonds) {
    near[from]!.push(to);
    near[to]!.push(from);
  }
  return atoms.map((_, start) => {
    const far = atoms.map(() => 0);
    const seen = new Set([start]);
    let ring = [start];
    for (let d = 1; ring.length; d++) {
      ring = ring.flatMap((a) => near[a]!).filter((a) => !seen.has(a) && seen.add(a));
      for (const a of ring) far[a] = d;
    }
    const most = Math.max(...far);
    return far.map((d, a) => (d || a === start ? d : most + 3));
  });
}

/**
 * One way to lay it out, by majorisation of stress (Gansner et al. 2004), and how far it is from
 * what it should be.
 */
function laidOut(want: readonly (readonly number[])[], start: number): [Point[], number] {
  const count = want.length;
  let points: Point[] = want.map((_, a) => {
    const turn = (2 * Math.PI * ((a * (2 * start + 1)) % count)) / count + start;
    return [count * 0.3 * Math.cos(turn), count * 0.3 * Math.sin(turn) + 0.01 * a];
  });
  const apart = (a: number, b: number): number =>
    Math.hypot(points[a]![0] - points[b]![0], points[a]![1] - points[b]![1]) || 1e-6;
  for (let round = 0; round < 120; round++)
    points = points.map((p, a) => {
      let [x, y, weights] = [0, 0, 0];
      for (let b = 0; b < count; b++) {
        if (a === b) continue;
        const d = want[a]![b]!;
        const [weight, share] = [1 / d ** 2, d / apart(a, b)];
        const q = points[b]!;
        x += weight * (q[0] + share * (p[0] - q[0]));
        y += weight * (q[1] + share * (p[1] - q[1]));
        weights += weight;
      }
      return [x / weights, y / weights];
    });
  let stress = 0;
  for (let a = 0; a < count; a++)
    for (let b = 0; b < a; b++) stress += (apart(a, b) / want[a]![b]! - 1) ** 2;
  return [points, stress];
}

/** The best of some beginnings, turned so that it is wider than high. */
function places(molecule: Molecule): Point[] {
  if (molecule.atoms.length === 1) return [[0, 0]];
  const want = distances(molecule);
  const [best] = Array.from({ length: 8 }, (_, start) => laidOut(want, start)).sort(
    ([, a], [, b]) => a - b,
  );
  const points = best![0];
  const mean = (axis: 0 | 1) => points.reduce((s, p) => s + p[axis], 0) / points.length;
  const [mx, my] = [mean(0), mean(1)];
  const at = points.map(([x, y]): Point => [x - mx, y - my]);
  const spread = (f: (p: Point) => number) => at.reduce((s, p) => s + f(p), 0);
  const turn =
    0.5 *
    Math.atan2(
      2 * spread(([x, y]) => x * y),
      spread(([x, y]) => x * x - y * y),
    );
  const [c, s] = [Math.cos(-turn), Math.sin(-turn)];
  return at.map(([x, y]): Point => [c * x - s * y, s * x + c * y]);
}

const svg = "http://www.w3.org/2000/svg";

function mark(name: string, attributes: Readonly<Record<string, string | number>>): SVGElement {
  const element = document.createElementNS(svg, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  return element;
}

const unit = 34;

/** Puts it into an SVG. Atoms other than carbon are named; parts, in Å², are halos. */
export class Drawing {
  readonly #svg: HTMLElement;
  #halos: SVGElement[] = [];

  constructor(element: HTMLElement) {
    this.#svg = element;
  }

  show(molecule: Molecule): void {
    const points = places(molecule).map(([x, y]): Point => [unit * x, unit * y]);
    const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
    const [left, top] = [Math.min(...xs) - 34, Math.min(...ys) - 34];
    const [width, height] = [Math.max(...xs) - left + 34, Math.max(...ys) - top + 34];
    // A small molecule is not drawn larger than a large one.
    const [w, h] = [Math.max(width, 300), Math.max(height, 190)];
    const box = [left - (w - width) / 2, top - (h - height) / 2, w, h];
    this.#svg.setAttribute("viewBox", box.map((v) => v.toFixed(1)).join(" "));
    this.#halos = points.map(([cx, cy]) => mark("circle", { cx, cy, r: 0, class: "halo" }));
    this.#svg.replaceChildren(...this.#halos, ...bondLines(molecule, points));
    molecule.atoms.forEach(({ symbol, charge }, a) => {
      const [x, y] = points[a]!;
      if (symbol === "C" && charge === 0) return;
      this.#svg.append(mark("circle", { cx: x, cy: y, r: 9.5, class: "paper" }));
      const text = mark("text", { x, y: y + 5, class: `atom ${symbol}` });
      text.textContent = symbol + (charge > 0 ? "⁺" : charge < 0 ? "⁻" : "");
      this.#svg.append(text);
    });
  }

  /** Areas of halos are as the parts. */
  parts(parts: readonly number[]): void {
    this.#halos.forEach((halo, a) => {
      const part = parts[a] ?? 0;
      halo.setAttribute("r", (4.2 * Math.sqrt(Math.abs(part))).toFixed(1));
      halo.classList.toggle("less", part < 0);
    });
  }
}

/** Lines side by side as the order says; of an aromatic bond the second is dashed. */
function bondLines({ bonds }: Molecule, points: readonly Point[]): SVGElement[] {
  return bonds.flatMap(({ from, to, order }) => {
    const [[x1, y1], [x2, y2]] = [points[from]!, points[to]!];
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    const [nx, ny] = [(y1 - y2) / length, (x2 - x1) / length];
    const shifts = order === 1 ? [0] : order === 3 ? [-4, 0, 4] : [-2, 2];
    return shifts.map((by, i) =>
      mark("line", {
        x1: x1 + by * nx,
        y1: y1 + by * ny,
        x2: x2 + by * nx,
        y2: y2 + by * ny,
        class: order === 1.5 && i === 1 ? "bond half" : "bond",
      }),
    );
  });
}
