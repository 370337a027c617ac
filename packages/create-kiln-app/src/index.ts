/**
 * Templates of projects, and what writes one into a folder. The command `npm create kiln-app` is in
 * `cli.ts`.
 */
export { createApp } from "./create.ts";
export { Refusal } from "./refusal.ts";
export { type Template, templates } from "./templates.ts";
