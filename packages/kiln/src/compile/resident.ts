/** Arguments as inputs of a run: what lies on the device already, and what is taken there. */
import { Tensor } from "@kiln-ml/ir";
import type { Input } from "@kiln-ml/runtime/loader";
import { feed } from "../devices/engine.ts";
import type { Session } from "../devices/session.ts";
import { storedOf } from "../devices/storage.ts";
import { evaluateTensor } from "../eager/eager.ts";
import type { Fed } from "./feed.ts";

/** The array of a value that is in the session. */
export function residentIn(session: Session, { from }: Fed): Input | undefined {
  if (!(from instanceof Tensor) || from.op !== "data") return undefined;
  const known = storedOf(from);
  return known?.session === session ? known.array : undefined;
}

/** Any value as an input of a run in the session. */
export async function inputOf(session: Session, { from, shape }: Fed): Promise<Input> {
  if (!(from instanceof Tensor)) return { data: from, shape };
  if (from.op === "data") return feed(session, from);
  const array = await evaluateTensor(session, from);
  return array.device === session.device ? array : { data: await array.data(), shape };
}
