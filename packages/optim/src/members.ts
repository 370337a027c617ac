/**
 * which parameters an optimizer updates and with what settings: plain lists and groups become one list, checked.
 */
import {
  checkOptions,
  DtypeError,
  GraphError,
  isFloat,
  type OptionNames,
  Tensor,
} from "@kiln-ml/ir";
import { checkRange } from "./check.ts";
import type { Rate } from "./schedule.ts";

/** Parameters that share settings; what is left out comes from the optimizer's options. */
export interface ParamGroup {
  readonly params: Iterable<Tensor>;
  readonly lr?: Rate;
  readonly weightDecay?: number;
}

const groupOptions: OptionNames<ParamGroup> = { params: 1, lr: 1, weightDecay: 1 };

export interface Member {
  readonly param: Tensor;
  readonly name: string;
  readonly lr: Rate;
  readonly weightDecay: number;
  /** The place of its group among those given; 0 for parameters without groups. */
  readonly group: number;
}

/** What a group may leave out. */
interface Settings {
  readonly lr: Rate;
  readonly weightDecay?: number;
}

function isGroup(x: Tensor | ParamGroup): x is ParamGroup {
  return !(x instanceof Tensor);
}

/** Parameters with the settings of their groups. Equal names get a number, so that names of state differ. */
export function membersOf(
  kind: string,
  params: Iterable<Tensor> | Iterable<ParamGroup>,
  options: Settings,
): Member[] {
  checkList(kind, params);
  const members: Member[] = [];
  const names = new Map<string, number>();
  let place = 0;
  for (const entry of params as Iterable<Tensor | ParamGroup>) {
    const group: ParamGroup = isGroup(entry) ? entry : { params: [entry] };
    checkOptions(`${kind}: group`, group, groupOptions);
    const lr = group.lr ?? options.lr;
    const weightDecay = group.weightDecay ?? options.weightDecay ?? 0;
    if (typeof lr === "number") checkRange(kind, "lr", lr, 0, Infinity);
    else if (lr === undefined) throw new GraphError(`${kind}: lr is missing`);
    checkRange(kind, "weightDecay", weightDecay, 0, Infinity);
    checkList(kind, group.params);
    for (const p of group.params) {
      checkParameter(kind, p, members);
      const name = String(p.attrs.name);
      const seen = names.get(name) ?? 0;
      names.set(name, seen + 1);
      members.push({
        param: p,
        name: seen ? `${name}#${seen + 1}` : name,
        lr,
        weightDecay,
        group: place,
      });
    }
    if (isGroup(entry)) place++;
  }
  return members;
}

function checkList(kind: string, params: unknown): void {
  if (typeof params === "object" && params !== null && Symbol.iterator in params) return;
  const given = params instanceof Object ? params.constructor.name : String(params);
  throw new GraphError(
    `${kind}: takes a list of parameters or groups, got ${given}\n  pass the parameters() of a module`,
  );
}

function checkParameter(kind: string, p: Tensor, members: readonly Member[]): void {
  if (!(p instanceof Tensor) || p.op !== "param" || !p.attrs.trainable)
    throw new GraphError(
      `${kind}: only trainable parameters can be moved, got ${p instanceof Tensor && p.op === "param" ? `the buffer ${String(p.attrs.name)}` : String(p)}\n  pass the parameters() of a module, or param(…); buffers are assigned`,
    );
  if (!isFloat(p.dtype))
    throw new DtypeError(`${kind}: ${String(p.attrs.name)} is ${p.dtype}, must be floating`);
  if (members.some((m) => m.param === p))
    throw new GraphError(
      `${kind}: ${String(p.attrs.name)} is given twice\n  leave one of them out: new Set(parameters) has each once`,
    );
}
