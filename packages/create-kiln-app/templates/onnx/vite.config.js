/** Vite leaves Kiln's files where they are, so that the worker of a model finds its script. */
export default { optimizeDeps: { exclude: ["kiln-ml"] }, worker: { format: "es" } };
