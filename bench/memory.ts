/**
 * Whether memory stays flat over training steps, and what the plan's sharing of buffers saves.
 */
import { compileProgram } from "../compiler/src/all.ts";
import { cases, mlp, step } from "./cases.ts";
import { bounded, compared, type Row } from "./row.ts";
import { open, slotBytes, valueBytes } from "./session.ts";

const mib = (bytes: number): number => bytes / 2 ** 20;

export async function memoryRows(selected: (name: string) => boolean): Promise<Row[]> {
  const rows: Row[] = [];
  if (selected("mlp steps")) rows.push(...(await flatRows()));
  for (const c of cases.filter(({ name }) => selected(name))) {
    const { artifact } = compileProgram(c.build(), { target: "js" });
    const row = { case: c.name, target: "js", metric: "slots", unit: "MiB", peer: "no sharing" };
    const [value, peerValue] = [mib(slotBytes(artifact)), mib(valueBytes(artifact))];
    rows.push(compared({ ...row, value, peerValue }));
  }
  return rows;
}

/** Memory of the device after few steps and after many; small layers, so that many steps are quick. */
async function flatRows(): Promise<Row[]> {
  const session = await open(step(mlp([64, 64, 64, 10]), [32, 64], "adam"));
  const total = (): number => {
    const { live, pooled } = session.device.memory();
    return live + pooled;
  };
  const after = async (steps: number): Promise<number> => {
    for (let i = 0; i < steps; i++) await session.run();
    return total();
  };
  const [few, many] = [await after(10), await after(1990)];
  const peak = session.device.memory().peak;
  session.dispose();
  const row = { case: "mlp steps", target: "js", unit: "KiB" };
  return [
    { ...row, metric: "after 10", value: few / 1024 },
    {
      ...bounded({ ...row, metric: "growth to 2000", value: (many - few) / 1024 }, 0),
      note: `peak ${(peak / 1024).toFixed(0)} KiB`,
    },
  ];
}
