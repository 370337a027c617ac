export { accuracy } from "./classification.ts";
