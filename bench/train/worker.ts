/** Serves the pictures of a folder to the loader of the bench. */
import { workerData } from "node:worker_threads";
import { serveBatches } from "@kiln-ml/data";
import { imageFolder } from "@kiln-ml/data/node";

serveBatches(await imageFolder(String(workerData), { size: 64 }));
