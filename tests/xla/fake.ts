/**
 * The engine's process without Python: speaks the protocol and evaluates the text by the
 * specification, as tests of the exporter do. Flags make it fail: `--devices=2`, `--protocol=9`,
 * `--refuse=text`, `--die-at-run=5` (once, if `--once=file` does not exist), `--unshared`,
 * `--fail-at-run=5`.
 */
import { existsSync, writeFileSync } from "node:fs";
import { Socket } from "node:net";
import { type Dtype, fromHost, type HostArray, toHost } from "@kiln-ml/ir";
import { parseStableHlo } from "@kiln-ml/stablehlo";
import {
  Decoder,
  encode,
  type Frame,
  type Placed,
  type Request,
} from "../../packages/xla/src/protocol.ts";
import {
  type Stored,
  sharedFrom,
  storeShared,
  takeShared,
} from "../../packages/xla/src/shared-memory.ts";
import type { Arr } from "../stablehlo/array.ts";
import { Evaluator } from "../stablehlo/evaluate.ts";

const flag = (name: string): string | undefined =>
  process.argv.find((a) => a.startsWith(`--${name}=`))?.slice(name.length + 3);
const shares = !process.argv.includes("--unshared");

type Asked = Request & {
  readonly seq: number;
  readonly free?: readonly number[];
  readonly taken?: number;
};
interface Loaded {
  readonly evaluator: Evaluator;
  readonly args: readonly Placed[];
  readonly results: readonly Placed[];
}

const arrays = new Map<number, Arr>();
const programs = new Map<number, Loaded>();
/** Parts of answers in shared memory that Kiln has not taken yet. */
const held: Stored[] = [];
let runs = 0;

function arrayOf(dtype: string, shape: readonly number[], bytes: Uint8Array): Arr {
  const form = toHost(dtype as Dtype, []).constructor as new (b: ArrayBufferLike) => HostArray;
  const data = fromHost(dtype as Dtype, new form(bytes.slice().buffer));
  return { dtype: dtype as Dtype, shape: [...shape], data };
}

/** What the engine would refuse too: a program's argument of another type. */
function checked(value: Arr | undefined, { dtype, shape }: Placed): Arr {
  if (!value) throw new Error("an array that is not there");
  if (value.dtype !== dtype || String(value.shape) !== String(shape))
    throw new Error(`expected ${dtype}[${shape}], got ${value.dtype}[${value.shape}]`);
  return value;
}

/** The last run, if it failed. */
let failed: { readonly number: number; readonly error: Error } | undefined;
const failureOf = (number: number) => ({ number, error: new Error("out of memory") });

function dieAt(run: number): void {
  const once = flag("once");
  if (runs !== run || (once && existsSync(once))) return;
  if (once) writeFileSync(once, "");
  process.kill(process.pid, "SIGKILL");
}

function answer({ header, parts }: Frame<Asked>): { answer?: object; parts?: Uint8Array[] } {
  for (const id of header.free ?? []) arrays.delete(id);
  for (const stored of held.splice(0, header.taken ?? 0)) stored.close();
  switch (header.op) {
    case "hello": {
      const refuse = flag("refuse");
      if (refuse) return { answer: { error: { kind: "refused", message: refuse } } };
      const devices = Number(flag("devices") ?? 8);
      const protocol = Number(flag("protocol") ?? header.protocol);
      const shared = shares && header.shared ? takeShared(header.shared)[0] : null;
      return { answer: { protocol, jaxlib: "0.11.0", device: "fake", devices, shared } };
    }
    case "put":
      arrays.set(header.id, arrayOf(header.dtype, header.shape, parts[0]!));
      return {};
    case "get": {
      const { dtype, data } = arrays.get(header.id)!;
      const host = toHost(dtype, data);
      return { parts: [new Uint8Array(host.buffer, host.byteOffset, host.byteLength)] };
    }
    case "load": {
      const text = new TextDecoder().decode(parts[0]);
      const { args, results } = header;
      programs.set(header.program, {
        evaluator: new Evaluator(parseStableHlo(text)),
        args,
        results,
      });
      return {};
    }
    case "run": {
      dieAt(Number(flag("die-at-run") ?? -1));
      if (failed && failed.number === header.number - 1)
        failed = { ...failed, number: header.number };
      else
        failed =
          runs++ === Number(flag("fail-at-run") ?? -1) ? failureOf(header.number) : undefined;
      if (failed) throw failed.error;
      const { evaluator, args } = programs.get(header.program)!;
      const given = header.args.map((a, i) => {
        const type = args[i]!;
        const value =
          "part" in a ? arrayOf(type.dtype, type.shape, parts[a.part]!) : arrays.get(a.id);
        return checked(value, type);
      });
      const results = evaluator.call("main", given);
      for (const [i, id] of header.results.entries()) arrays.set(id, results[i]!);
      return {};
    }
  }
}

const pipe = new Socket({ fd: 3, readable: true, writable: true });
const decoder = new Decoder<Asked>((frame) => {
  let made: ReturnType<typeof answer>;
  try {
    made = answer(frame);
  } catch (error) {
    const message = `xla: ${frame.header.op}: ${(error as Error).message}`;
    made = { answer: { error: { kind: "engine", message } } };
  }
  const placed = (made.parts ?? []).map((bytes) => {
    const stored = shares && bytes.length >= sharedFrom ? storeShared(bytes) : undefined;
    if (stored) held.push(stored);
    return stored?.part ?? bytes;
  });
  for (const chunk of encode({ seq: frame.header.seq, ...made.answer }, placed)) pipe.write(chunk);
});
pipe.on("data", (chunk: Uint8Array) => decoder.push(chunk));
pipe.on("end", () => process.exit(0));
