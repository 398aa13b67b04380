/** The module of a loop's thread. */
import { runLoopProgram } from "../../net/threads/run-loop-program.ts";
import { createProxyProgram } from "./proxy-program.ts";

runLoopProgram(createProxyProgram);
