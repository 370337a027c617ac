/**
 * Optimizers in doubles, written from their papers and from PyTorch's documentation, with arrays and loops alone: what the graphs
 * are compared with. A rule holds the state of one parameter.
 */
export interface Setting {
  readonly lr: number;
  readonly weightDecay: number;
  readonly shape: readonly number[];
}

/** The new value of a parameter, at step t = 1, 2, …. */
export type Rule = (w: readonly number[], g: readonly number[], t: number) => number[];
export type MakeRule = (o: Setting) => Rule;

const zeros = (n: number, value = 0): number[] => new Array<number>(n).fill(value);
const sized = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);
const norm = (x: readonly number[]): number => Math.hypot(...x);
const rms = (x: readonly number[]): number => norm(x) / Math.sqrt(x.length);

/** A rule that moves each element by itself; `s` holds its numbers. */
const each = (
  states: number,
  move: (w: number, g: number, t: number, s: number[]) => number,
): Rule =>
  // One closure a parameter: states are made at the first step.
  (
    (memory: number[][]) => (w: readonly number[], g: readonly number[], t: number) =>
      w.map((x, i) => {
        memory[i] ??= zeros(states);
        return move(x, g[i]!, t, memory[i]!);
      })
  )([]);

export const adaGrad =
  ({ lrDecay = 0, first = 0, eps = 1e-10 } = {}): MakeRule =>
  ({ lr, weightDecay }) =>
    each(1, (w, grad, t, s) => {
      const g = grad + weightDecay * w;
      s[0]! += g * g;
      return w - ((lr / (1 + (t - 1) * lrDecay)) * g) / (Math.sqrt(s[0]! + first) + eps);
    });

export const adadelta =
  ({ rho = 0.9, eps = 1e-6 } = {}): MakeRule =>
  ({ lr, weightDecay }) =>
    each(2, (w, grad, _, s) => {
      const g = grad + weightDecay * w;
      s[0] = rho * s[0]! + (1 - rho) * g * g;
      const d = (Math.sqrt(s[1]! + eps) / Math.sqrt(s[0] + eps)) * g;
      s[1] = rho * s[1]! + (1 - rho) * d * d;
      return w - lr * d;
    });

export const adamax =
  ({ b1 = 0.9, b2 = 0.999, eps = 1e-8 } = {}): MakeRule =>
  ({ lr, weightDecay }) =>
    each(2, (w, grad, t, s) => {
      const g = grad + weightDecay * w;
      s[0] = b1 * s[0]! + (1 - b1) * g;
      s[1] = Math.max(b2 * s[1]!, Math.abs(g) + eps);
      return w - ((lr / (1 - b1 ** t)) * s[0]) / s[1];
    });

export const nAdam =
  ({ b1 = 0.9, b2 = 0.999, eps = 1e-8, psi = 0.004, decoupled = false } = {}): MakeRule =>
  ({ lr, weightDecay }) =>
    each(2, (w, grad, t, s) => {
      const mu = (i: number) => b1 * (1 - 0.5 * 0.96 ** (i * psi));
      let product = 1;
      for (let i = 1; i <= t; i++) product *= mu(i);
      const from = decoupled ? w * (1 - lr * weightDecay) : w;
      const g = decoupled ? grad : grad + weightDecay * w;
      s[0] = b1 * s[0]! + (1 - b1) * g;
      s[1] = b2 * s[1]! + (1 - b2) * g * g;
      const root = Math.sqrt(s[1] / (1 - b2 ** t)) + eps;
      const next = product * mu(t + 1);
      return (
        from -
        (((lr * (1 - mu(t))) / (1 - product)) * g) / root -
        (((lr * mu(t + 1)) / (1 - next)) * s[0]) / root
      );
    });

export const rAdam =
  ({ b1 = 0.9, b2 = 0.999, eps = 1e-8, decoupled = false } = {}): MakeRule =>
  ({ lr, weightDecay }) =>
    each(2, (w, grad, t, s) => {
      const from = decoupled ? w * (1 - lr * weightDecay) : w;
      const g = decoupled ? grad : grad + weightDecay * w;
      s[0] = b1 * s[0]! + (1 - b1) * g;
      s[1] = b2 * s[1]! + (1 - b2) * g * g;
      const m = s[0] / (1 - b1 ** t);
      const limit = 2 / (1 - b2) - 1;
      const rho = limit - (2 * t * b2 ** t) / (1 - b2 ** t);
      if (!(rho > 5)) return from - lr * m;
      const r = Math.sqrt(((rho - 4) * (rho - 2) * limit) / ((limit - 4) * (limit - 2) * rho));
      return from - (lr * m * r * Math.sqrt(1 - b2 ** t)) / (Math.sqrt(s[1]) + eps);
    });

export const adan =
  ({ b1 = 0.98, b2 = 0.92, b3 = 0.99, eps = 1e-8, noProx = false } = {}): MakeRule =>
  ({ lr, weightDecay }) =>
    each(4, (w, g, t, s) => {
      const d = t === 1 ? 0 : g - s[3]!;
      s[0] = b1 * s[0]! + (1 - b1) * g;
      s[1] = b2 * s[1]! + (1 - b2) * d;
      s[2] = b3 * s[2]! + (1 - b3) * (g + b2 * d) ** 2;
      s[3] = g;
      const root = Math.sqrt(s[2] / (1 - b3 ** t)) + eps;
      const step = (lr * (s[0] / (1 - b1 ** t) + (b2 * s[1]) / (1 - b2 ** t))) / root;
      return noProx ? w * (1 - lr * weightDecay) - step : (w - step) / (1 + lr * weightDecay);
    });

export const lion =
  ({ b1 = 0.9, b2 = 0.99 } = {}): MakeRule =>
  ({ lr, weightDecay }) =>
    each(1, (w, g, _, s) => {
      const direction = Math.sign(b1 * s[0]! + (1 - b1) * g);
      s[0] = b2 * s[0]! + (1 - b2) * g;
      return w * (1 - lr * weightDecay) - lr * direction;
    });

export const adamW =
  ({ b1 = 0.9, b2 = 0.999, eps = 1e-8, cautious = false } = {}): MakeRule =>
  ({ lr, weightDecay }) =>
    each(2, (w, g, t, s) => {
      s[0] = b1 * s[0]! + (1 - b1) * g;
      s[1] = b2 * s[1]! + (1 - b2) * g * g;
      const u = s[0] / (1 - b1 ** t) / (Math.sqrt(s[1] / (1 - b2 ** t)) + eps);
      return w - lr * u - (cautious && u * w < 0 ? 0 : lr * weightDecay * w);
    });

export const sgd =
  (): MakeRule =>
  ({ lr, weightDecay }) =>
    each(0, (w, g) => w - lr * (g + weightDecay * w));

export const lamb =
  ({ b1 = 0.9, b2 = 0.999, eps = 1e-6 } = {}): MakeRule =>
  ({ lr, weightDecay, shape }) => {
    const [m, v] = [zeros(sized(shape)), zeros(sized(shape))];
    return (w, g, t) => {
      const r = w.map((x, i) => {
        m[i] = b1 * m[i]! + (1 - b1) * g[i]!;
        v[i] = b2 * v[i]! + (1 - b2) * g[i]! ** 2;
        return m[i]! / (1 - b1 ** t) / (Math.sqrt(v[i]! / (1 - b2 ** t)) + eps) + weightDecay * x;
      });
      const trust = norm(w) > 0 && norm(r) > 0 ? norm(w) / norm(r) : 1;
      return w.map((x, i) => x - lr * trust * r[i]!);
    };
  };

/** torch.optim.Adafactor's single-tensor course, with the spacing of f64. */
export const adafactor =
  ({ decay = -0.8, eps1 = 2 ** -52, eps2 = 1e-3, d = 1 } = {}): MakeRule =>
  ({ lr, weightDecay, shape }) => {
    const size = sized(shape);
    const [rows, columns] = shape.length > 1 ? [shape.at(-2)!, shape.at(-1)!] : [1, size];
    const batch = size / rows / columns;
    const [R, C, V] = [zeros(batch * rows), zeros(batch * columns), zeros(size)];
    const squares = (g: readonly number[], share: number): number[] => {
      if (shape.length < 2)
        return g.map((x, i) => {
          V[i]! += share * (x * x - V[i]!);
          return V[i]!;
        });
      const at = (b: number, i: number, j: number) => g[(b * rows + i) * columns + j]! ** 2;
      const out: number[] = [];
      for (let b = 0; b < batch; b++) {
        for (let i = 0; i < rows; i++) {
          let sum = 0;
          for (let j = 0; j < columns; j++) sum += at(b, i, j);
          R[b * rows + i]! += share * (sum / columns - R[b * rows + i]!);
        }
        for (let j = 0; j < columns; j++) {
          let sum = 0;
          for (let i = 0; i < rows; i++) sum += at(b, i, j);
          C[b * columns + j]! += share * (sum / rows - C[b * columns + j]!);
        }
        const own = R.slice(b * rows, (b + 1) * rows);
        const mean = Math.max(eps1, own.reduce((x, y) => x + y, 0) / rows);
        for (const r of own)
          for (let j = 0; j < columns; j++) out.push((r * C[b * columns + j]!) / mean);
      }
      return out;
    };
    return (w, g, t) => {
      const alpha = Math.max(eps2, rms(w)) * Math.min(lr, 1 / Math.sqrt(t));
      const v = squares(g, t ** decay);
      const u = g.map((x, i) => x / Math.sqrt(Math.max(v[i]!, eps1 * eps1)));
      const most = Math.max(1, rms(u) / d);
      return w.map((x, i) => x * (1 - lr * weightDecay) - (alpha * u[i]!) / most);
    };
  };

type Matrix = number[][];
const product = (a: Matrix, b: Matrix): Matrix =>
  a.map((row) => b[0]!.map((_, j) => row.reduce((sum, x, k) => sum + x * b[k]![j]!, 0)));
const turned = (a: Matrix): Matrix => a[0]!.map((_, j) => a.map((row) => row[j]!));

export const muon =
  ({ mu = 0.95, nesterov = true, steps = 5, match = false, scale = 1 } = {}): MakeRule =>
  (o) => {
    const { lr, weightDecay, shape } = o;
    if (shape.length !== 2) return adamW()({ ...o, lr: lr * scale });
    const [m, n] = shape as [number, number];
    const mean = zeros(m * n);
    return (w, g) => {
      const u = g.map((x, i) => {
        mean[i] = mu * mean[i]! + (1 - mu) * x;
        return nesterov ? mu * mean[i]! + (1 - mu) * x : mean[i]!;
      });
      const size = Math.max(norm(u), 1e-7);
      let x: Matrix = Array.from({ length: m }, (_, i) =>
        u.slice(i * n, (i + 1) * n).map((v) => v / size),
      );
      if (m > n) x = turned(x);
      for (let k = 0; k < steps; k++) {
        const a = product(x, turned(x));
        const aa = product(a, a);
        const mixed = a.map((row, i) => row.map((v, j) => -4.775 * v + 2.0315 * aa[i]![j]!));
        const ax = product(mixed, x);
        x = x.map((row, i) => row.map((v, j) => 3.4445 * v + ax[i]![j]!));
      }
      if (m > n) x = turned(x);
      const factor = match ? 0.2 * Math.sqrt(Math.max(m, n)) : Math.sqrt(Math.max(1, m / n));
      return w.map((v, i) => v * (1 - lr * weightDecay) - lr * factor * x.flat()[i]!);
    };
  };
