/**
 * Runs on Windows (or Wine) with the stand-in DLL, and writes what it counted as JSON.
 *
 *     node on-the-stand-in.js OUT.json
 */
import { writeFileSync } from "node:fs";
import koffi from "koffi";
import { openComputeNetwork } from "../../../src/platform/windows/compute-network.ts";
import { computeNetworkPath } from "../../../src/platform/windows/system-dll.ts";
import { measureCalls } from "../measure-calls.ts";

const [out = ""] = process.argv.slice(2);
const dll = koffi.load(computeNetworkPath());
const countCalls: () => number = dll.func("int32_t __stdcall StandInCalls()");
writeFileSync(out, JSON.stringify(await measureCalls(openComputeNetwork(), countCalls)));
