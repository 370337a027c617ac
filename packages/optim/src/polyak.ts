/**
 * Averages of a model over time: the weights that are evaluated in place of the noisy ones, and
 * target networks.
 */
import {
  assign,
  checkTensor,
  currentValue,
  GraphError,
  isFloat,
  isHalf,
  kindOf,
  Stateful,
  type Tensor,
} from "@kiln-ml/ir";

const told = new WeakSet<Stateful>();

/** Says once of a target that its halves lose what is less than half an ulp. */
function tell(target: Stateful, own: ReadonlyMap<string, Tensor>): void {
  const halves = [...own].filter(([, t]) => isHalf(t.dtype)).map(([name]) => name);
  if (!halves.length || told.has(target)) return;
  told.add(target);
  console.warn(
    `polyak: ${halves.join(", ")}: an average in half precision loses steps of less than half an ulp\n  make the target's parameters f32`,
  );
}

/**
 * θ′ ← θ′ + rate·(θ − θ′) for all state of `target`, from the state of `source` that has the same
 * name: its running statistics too. What holds no floats is copied. An exponential average of decay
 * d has rate 1 − d, a target network rate τ; rate 1 copies.
 *
 * Of f16 and bf16 a small share is lost: where rate·(θ − θ′) is less than half an ulp of θ′, it
 * stays. Make `target` of f32, which may follow a source of halves; one of halves that cannot
 * follow is told of once.
 *
 * Records assignments in the current trace, as an optimizer's step does, and sees those made
 * before. Throws GraphError where names differ or the rate is not in [0, 1], ShapeError or
 * DtypeError where tensors differ. Polyak & Juditsky 1992.
 * `torch.optim.swa_utils.get_ema_multi_avg_fn`.
 *
 * @param rate The share, from 0 to 1.
 * @example
 *   const [target, source] = [new nn.Linear(1, 1), new nn.Linear(1, 1)];
 *   const before = target.weight.lerp(source.weight, 0.1);
 *   const expected = tensor(await before.data());
 *   await compile(() => optim.polyak(target, source, 0.1))();
 *   allClose(target.weight.reshape([1]), expected) // true
 */
export function polyak(target: Stateful, source: Stateful, rate: number | Tensor): void {
  for (const holder of [target, source])
    if (!(holder instanceof Stateful))
      throw new GraphError(`polyak: takes two modules, got ${kindOf(holder)}`);
  if (typeof rate !== "number") checkTensor("polyak", rate);
  if (typeof rate === "number" && !(rate >= 0 && rate <= 1))
    throw new GraphError(`polyak: rate must be in [0, 1], got ${kindOf(rate)}`);
  const [own, other] = [target.checkpoint(), source.checkpoint()];
  const apart = [
    ...[...own.keys()].filter((name) => !other.has(name)),
    ...[...other.keys()].filter((name) => !own.has(name)),
  ];
  if (apart.length)
    throw new GraphError(`polyak: only one of source and target has [${apart.join(", ")}]`);
  if (rate !== 1 && rate !== 0) tell(target, own);
  for (const [name, t] of own) {
    const from = currentValue(other.get(name)!);
    assign(t, isFloat(t.dtype) && rate !== 1 ? t.lerp(from, rate).convert(t.dtype) : from);
  }
}
