/** What an act in this process prints, as the command's streams have it. */
export interface Spoken {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export async function heard(act: () => Promise<number>): Promise<Spoken> {
  const spoken = { out: "", err: "" };
  const writers = { out: process.stdout.write, err: process.stderr.write };
  const listen = (to: "out" | "err") => (text: string) => {
    spoken[to] += text;
    return true;
  };
  process.stdout.write = listen("out") as typeof writers.out;
  process.stderr.write = listen("err") as typeof writers.err;
  try {
    return { code: await act(), ...spoken };
  } finally {
    process.stdout.write = writers.out;
    process.stderr.write = writers.err;
  }
}
