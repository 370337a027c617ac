/** What the compiler says of its decisions; for inspectors, apart from what compiling takes. */
export { isLeaf } from "./access.ts";
export type { Group } from "./fuse/group.ts";
export type { Fusion } from "./fuse/state.ts";
export { type Edge, type Reason, Refusals, type Why, whyApart } from "./fuse/why-apart.ts";
export type { Lowered } from "./lower/lower.ts";
export type { PlannedLaunch } from "./plan/planned.ts";
export { loopsOf } from "./plan/print-groups.ts";
