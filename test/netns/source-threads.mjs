/** Lets threads, too, run the sources: tsx itself is there only for the main one. */
import { isMainThread } from "node:worker_threads";
import { register } from "tsx/esm/api";

if (!isMainThread) register();
