/**
 * Averages of a model over time: the weights that are evaluated in place of the noisy ones, and target networks.
 */
import {
  assign,
  checkTensor,
  currentValue,
  GraphError,
  isFloat,
  kindOf,
  Stateful,
  type Tensor,
} from "@kiln-ml/ir";

/**
 * θ′ ← θ′ + rate·(θ − θ′) for all state of `target`, from the state of `source` that has the same name: its running statistics too. What
 * holds no floats is copied. An exponential average of decay d has rate 1 − d, a target network rate τ; rate 1 copies.
 *
 * Records assignments in the current trace, as an optimizer's step does, and sees those made before. Throws GraphError where names
 * differ or the rate is not in [0, 1], ShapeError or DtypeError where tensors differ. Polyak & Juditsky 1992.
 */
export function polyak(target: Stateful, source: Stateful, rate: number | Tensor): void {
  for (const holder of [target, source])
    if (!(holder instanceof Stateful))
      throw new GraphError(`polyak: takes two modules, got ${kindOf(holder)}`);
  if (typeof rate !== "number") checkTensor("polyak", rate);
  if (typeof rate === "number" && !(rate >= 0 && rate <= 1))
    throw new GraphError(`polyak: rate must be in [0, 1], got ${rate}`);
  const [own, other] = [target.checkpoint(), source.checkpoint()];
  const apart = [
    ...[...own.keys()].filter((name) => !other.has(name)),
    ...[...other.keys()].filter((name) => !own.has(name)),
  ];
  if (apart.length)
    throw new GraphError(`polyak: only one of source and target has [${apart.join(", ")}]`);
  for (const [name, t] of own) {
    const from = currentValue(other.get(name)!);
    assign(t, isFloat(t.dtype) && rate !== 1 ? t.lerp(from, rate).convert(t.dtype) : from);
  }
}
