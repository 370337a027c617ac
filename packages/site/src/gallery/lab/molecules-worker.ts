/**
 * A graph isomorphism network learns the polar surface of made-up molecules, as a sum over atoms
 * whose parts it shows.
 */
import { compile, concat, nn, optim, type Tensor } from "kiln-ml";
import { type Molecule, madeUp, mostAtoms, surfaceOf } from "./molecule.ts";
import { serveLab } from "./serve.ts";
import type { Surface, Surfaces } from "./views.ts";

const elements = ["C", "N", "O", "S", "P", "F", "Cl", "Br", "I"];
/** Of an atom: one for each element, aromatic, charge, and hydrogens that a bracket names. */
const features = elements.length + 3;
const [batch, width, heldBack] = [32, 48, 64];
/** Å² are learned in hundreds. */
const unit = 100;

const perceptron = (inputs: number) =>
  new nn.Sequential(
    new nn.Linear(inputs, width),
    new nn.SiLU(),
    new nn.Linear(width, width),
    new nn.SiLU(),
    new nn.Linear(width, width),
    new nn.SiLU(),
  );

/**
 * Two rounds of h ← perceptron(h, Σ of neighbours by the orders of their bonds), as Xu et al. 2019;
 * parts of atoms are summed.
 */
class Gin extends nn.Module {
  readonly rounds = [perceptron(2 * features), perceptron(2 * width)];
  readonly readout = new nn.Linear(width, 1);

  /**
   * atoms: f32[N, A, features], bonds: f32[N, A, A], there: f32[N, A] → f32[N, A], the part of each
   * atom.
   */
  override forward(atoms: Tensor, bonds: Tensor, there: Tensor): Tensor {
    let h = atoms;
    for (const round of this.rounds) h = round.forward(concat([h, bonds.matmul(h)], -1));
    return this.readout.forward(h).squeeze(-1).mul(there);
  }
}

/** Molecules side by side, each with room for the most atoms. */
function packed(molecules: readonly Molecule[]) {
  const count = molecules.length;
  const atoms = new Float32Array(count * mostAtoms * features);
  const bonds = new Float32Array(count * mostAtoms * mostAtoms);
  const there = new Float32Array(count * mostAtoms);
  molecules.forEach((molecule, n) => {
    molecule.atoms.forEach(({ symbol, aromatic, charge, hydrogens = 0 }, a) => {
      const at = (n * mostAtoms + a) * features;
      const element = elements.indexOf(symbol);
      if (element >= 0) atoms[at + element] = 1;
      atoms.set([Number(aromatic), charge, hydrogens], at + elements.length);
      there[n * mostAtoms + a] = 1;
    });
    for (const { from, to, order } of molecule.bonds) {
      bonds[(n * mostAtoms + from) * mostAtoms + to] = order;
      bonds[(n * mostAtoms + to) * mostAtoms + from] = order;
    }
  });
  return [
    { data: atoms, shape: [count, mostAtoms, features] },
    { data: bonds, shape: [count, mostAtoms, mostAtoms] },
    { data: there, shape: [count, mostAtoms] },
  ] as const;
}

function programs(steps: number) {
  nn.seed(1);
  const net = new Gin();
  const lr = optim.schedule.cosine(8e-3, steps, 1e-4);
  const opt = new optim.AdamW(net.parameters(), { lr, clipNorm: 1 });
  const step = compile(
    (atoms: Tensor, bonds: Tensor, there: Tensor, right: Tensor) => {
      const parts = net.forward(atoms, bonds, there);
      const error = parts.sum([1]).sub(right).abs().mean();
      // Of all ways to share a sum among atoms, one with few of them.
      const few = parts.abs().add(1e-3).sqrt().sum([1]).mean();
      opt.step(error.add(few.mul(0.03)));
      return error.mul(unit);
    },
    { name: "step" },
  );
  const parts = compile(
    (atoms: Tensor, bonds: Tensor, there: Tensor) => net.forward(atoms, bonds, there).mul(unit),
    { name: "parts" },
  );
  return { step, parts };
}

serveLab<undefined, Surfaces, Molecule, Surface>(400, (_, steps) => {
  const { step, parts } = programs(steps);
  const unseen = Array.from({ length: heldBack }, madeUp);
  const right = unseen.map(surfaceOf);
  const totals = (all: readonly number[]): number[] =>
    Array.from({ length: all.length / mostAtoms }, (_, n) =>
      all.slice(n * mostAtoms, (n + 1) * mostAtoms).reduce((a, b) => a + b, 0),
    );
  const partsOf = async (molecules: readonly Molecule[]) =>
    Array.from(await (await parts(...packed(molecules))).data(), Number);
  return {
    steps,
    every: 20,
    inspect: () => step.inspect(),
    async step() {
      const molecules = Array.from({ length: batch }, madeUp);
      const surfaces = Float32Array.from(molecules, (m) => surfaceOf(m) / unit);
      return { "error in Å²": await (await step(...packed(molecules), surfaces)).item() };
    },
    view: async () => ({ right, learned: totals(await partsOf(unseen)) }),
    async ask(molecule) {
      const all = await partsOf([molecule]);
      return { parts: all.slice(0, molecule.atoms.length), total: totals(all)[0]! };
    },
  };
});
