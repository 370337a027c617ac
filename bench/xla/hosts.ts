/**
 * Two hosts on one machine: two processes of the engine, each with half of its devices, which meet
 * at a port and train together. Each is compared with the reference, as one process is.
 */
import { createServer } from "node:net";
import { mesh, type Recipe, type Xla, xla } from "@kiln-ml/xla";
import { commandOf } from "../../packages/xla/src/options.ts";
import { bounded, type Row } from "../row.ts";
import { agreement } from "./agree.ts";

interface HostsOptions {
  readonly virtual: boolean;
  readonly python: string;
  /** How inputs and parameters lie on the devices of both. */
  readonly shard: readonly Recipe[];
}

const network = "mlp-dropout-adamw-clip";

/** A port that nobody listens at. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** The engine as host `index` of two, with a card of its own or devices of the processor. */
function host(index: number, port: number, { virtual, python, shard }: HostsOptions): Xla {
  const hosts = { coordinator: `127.0.0.1:${port}`, count: 2, index };
  const options = { mesh: mesh({ data: virtual ? 8 : 2 }), hosts, virtual, python };
  const { program, args } = commandOf(options);
  const card = virtual ? [] : [`CUDA_VISIBLE_DEVICES=${index}`];
  return xla({
    ...options,
    shard,
    command: ["env", ...card, program, ...args],
  });
}

/** Twenty steps of the MLP by two hosts, parameters in parts on all devices of both. */
export async function hostsRow(options: HostsOptions): Promise<Row> {
  const port = await freePort();
  const both = [0, 1].map((index) => host(index, port, options));
  const found = await Promise.all(both.map((engine) => agreement(engine, network)));
  for (const engine of both) engine.close();
  const worst = Math.max(...found.map(({ loss, states }) => Math.max(loss, states)));
  console.log(`two hosts: ${network}, ${found[0]!.steps} steps, off by ${worst.toExponential(1)}`);
  const row = { case: `${network}, 20 steps`, target: "xla, 2 hosts", metric: "error", unit: "" };
  return bounded({ ...row, value: worst }, 1e-4);
}
