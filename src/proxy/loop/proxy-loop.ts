/** The module of a loop's thread. */
import { runLoopProgram } from "../../net/threads/run-loop-program.ts";
import { OpenSslTermination } from "../tls/openssl-termination.ts";
import { createProxyProgram } from "./proxy-program.ts";

runLoopProgram((context) => createProxyProgram(context, (seed) => new OpenSslTermination(seed)));
