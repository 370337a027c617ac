/** The engine with the process of these tests in place of Python. */
import { join } from "node:path";
import { mesh, type Xla, type XlaOptions, xla } from "@kiln-ml/xla";

const fake = join(import.meta.dirname, "fake.ts");

export const fakeEngine = (flags: readonly string[] = [], more: Partial<XlaOptions> = {}): Xla =>
  xla({
    mesh: mesh({ data: 4 }),
    command: [process.execPath, "--conditions=@kiln-ml/source", "--import", "tsx", fake, ...flags],
    ...more,
  });
