/**
 * Programs made by hand, for packages that record graphs of their own, such as `@kiln-ml/tfjs`: a
 * graph of inputs and outputs is compiled for one device, and runs on arrays of it. Keeps no
 * programs, and knows no tensors of `eager`.
 */
export { openPrograms, type ProgramDevice } from "./devices/programs.ts";
