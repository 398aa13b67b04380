import { workerUrl } from "../../net/threads/worker-url.ts";

/** What a thread of a loop runs; beside it also where the modules of a program stand in one folder. */
export const LOOP_PROGRAM: URL = workerUrl("./proxy-loop", import.meta.url);
