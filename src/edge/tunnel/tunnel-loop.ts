/** The module of a tunnel's thread. */
import { runLoopProgram } from "../../net/threads/run-loop-program.ts";
import { createTunnelProgram } from "./rehearsed-program.ts";

runLoopProgram(createTunnelProgram);
