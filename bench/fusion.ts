/**
 * Each case with fusion and without: time, kernels, bytes moved, temporary memory.
 */
import { cases } from "./cases.ts";
import { interleave, worse } from "./measure.ts";
import { compared, type Row } from "./row.ts";
import { bytesMoved, flopsOf, open, type Session, slotBytes } from "./session.ts";

/** The chain is all memory and no reuse, so fusing must halve it at least. */
const least: Readonly<Record<string, number>> = { "chain 4M": 2 };

const bytesOf = { bytes: bytesMoved, memory: slotBytes };

export async function fusionRows(selected: (name: string) => boolean): Promise<Row[]> {
  const rows: Row[] = [];
  for (const c of cases.filter(({ name }) => selected(name))) {
    const [fused, plain] = [await open(c.build()), await open(c.build(), { fusion: false })];
    rows.push(await timeRow(c.name, fused, plain));
    const base = { case: c.name, target: "js", peer: "unfused" };
    const kernels = (s: Session): number => s.artifact.plan.steps.length;
    const count = { metric: "kernels", value: kernels(fused), peerValue: kernels(plain), unit: "" };
    rows.push(compared({ ...base, ...count }));
    for (const metric of ["bytes", "memory"] as const) {
      const [value, peerValue] = [bytesOf[metric](fused.artifact), bytesOf[metric](plain.artifact)];
      const row = { ...base, metric, value: value / 2 ** 20, peerValue: peerValue / 2 ** 20 };
      rows.push(compared({ ...row, unit: "MiB" }, metric === "bytes" ? least[c.name] : undefined));
    }
    fused.dispose();
    plain.dispose();
  }
  return rows;
}

async function timeRow(name: string, fused: Session, plain: Session): Promise<Row> {
  const heavy = flopsOf(fused.artifact) > 1e9;
  const [f, p] = await interleave([fused.run, plain.run], heavy ? { warmups: 1, budgetMs: 0 } : {});
  const rate = flopsOf(fused.artifact) / f!.median / 1e6;
  return compared(
    {
      case: name,
      target: "js",
      metric: "time",
      value: f!.median,
      unit: "ms",
      peer: "unfused",
      peerValue: p!.median,
      spread: worse(f!, p!),
      note: `${rate.toFixed(2)} Gop/s`,
    },
    least[name],
  );
}
