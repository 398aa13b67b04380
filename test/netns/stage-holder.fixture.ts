/** Holds a stage with a backend until it is killed; prints the pid of the backend's process. */
import { BackendProcess } from "./backend-process.ts";
import { Stage } from "./stage.ts";

const stage = Stage.open();
const backend = new BackendProcess(stage.network);
await backend.start("print", {});
process.stdout.write(`${backend.pid}\n`);
