/** Opens an ONNX file, feeds it numbers that are made up, and shows what comes out. */
import { type ModelSource, openModel } from "kiln-ml/model";

const state = document.querySelector("#state")!;
const results = document.querySelector("#results")!;

/** Unknown extents are 1, which most models take. */
const extentOf = (dim: number | string | null): number => (typeof dim === "number" ? dim : 1);

async function show(source: ModelSource): Promise<void> {
  results.textContent = "";
  state.textContent = "opening the model";
  const model = await openModel(source, { worker: true });
  try {
    const inputs = Object.fromEntries(
      model.inputs.map(({ name, dtype, shape: dims }) => {
        const shape = dims.map(extentOf);
        const length = shape.reduce((a, b) => a * b, 1);
        if (dtype !== "f32")
          throw new Error(`input ${name} is ${dtype}: say in main.ts what it gets`);
        return [name, { data: Float32Array.from({ length }, () => Math.random()), shape }];
      }),
    );
    const started = performance.now();
    const outputs = await model.run(inputs);
    const elapsedMs = performance.now() - started;
    state.textContent = `on ${model.target} in ${elapsedMs.toFixed(1)} ms`;
    results.textContent = Object.entries(outputs)
      .map(([name, { shape, data }]) => `${name} [${shape}]: ${[...data].slice(0, 8).join(", ")}`)
      .join("\n");
  } finally {
    await model.dispose();
  }
}

const fail = (error: unknown): void => {
  state.textContent = String(error);
};

document.querySelector<HTMLInputElement>("#file")!.addEventListener("change", async (event) => {
  const file = (event.target as HTMLInputElement).files?.[0];
  if (file) show(new Uint8Array(await file.arrayBuffer())).catch(fail);
});
show("/model.onnx").catch(fail);
