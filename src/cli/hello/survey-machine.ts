import { lstat, readFile } from "node:fs/promises";
import process from "node:process";
import type { Finding } from "../../backends/backend.ts";
import { probeDirectHere } from "../../backends/probe-direct-here.ts";
import { probeFastHere } from "../../backends/probe-fast-here.ts";
import { loadAllBackends } from "../../backends/registry.ts";
import { CoreError, messageOf } from "../../core/errors.ts";
import { chooseBackend } from "../../daemon/choose-backend.ts";
import { readThisMachine } from "../../daemon/this-machine.ts";
import { posixProblem } from "../../net/posix/posix-support.ts";
import type { Survey, Surveyed } from "./survey.ts";
import { surveyDirect } from "./survey-direct.ts";
import { surveyFast } from "./survey-fast.ts";
import { surveyKernel } from "./survey-kernel.ts";

/** Looks at this machine; nothing is changed. */
export async function surveyMachine(): Promise<Survey> {
  const machine = readThisMachine();
  const definitions = await loadAllBackends();
  return {
    providers: await surveyProviders(),
    backends: await Promise.all(
      definitions.map(async ({ name, summary, probe }) => ({
        name,
        summary,
        findings: await probe(machine),
      })),
    ),
    kernel:
      machine.os === "linux"
        ? [
            ...(await surveyKernel(readKernelFile)),
            await surveyDirect(probeDirectHere),
            await surveyFast(probeFastHere),
          ]
        : [],
    auto: await autoChoice(),
  };
}

async function surveyProviders(): Promise<readonly Surveyed[]> {
  return [
    {
      name: "posix",
      summary: "event loops on system calls: the fast ones, with TLS",
      findings: await posixFindings(),
    },
    { name: "node", summary: "event loops on Node's own sockets, without TLS", findings: [] },
    { name: "kcp", summary: "streams over UDP for lossy lines, on either of them", findings: [] },
  ];
}

async function posixFindings(): Promise<readonly Finding[]> {
  const problem = await posixProblem(process);
  if (problem !== undefined) {
    const remedy = "the provider node takes its place";
    return [{ severity: "missing", what: problem, remedy }];
  }
  try {
    const { loadOpenSsl } = await import("../../platform/linux/openssl/load-openssl.ts");
    loadOpenSsl();
    return [];
  } catch (error) {
    const remedy = "listeners and groups with TLS need another Node";
    return [{ severity: "degraded", what: messageOf(error), remedy }];
  }
}

async function autoChoice(): Promise<string | undefined> {
  try {
    return (await chooseBackend(readThisMachine())).definition.name;
  } catch (error) {
    if (error instanceof CoreError && error.code === "ERR_NOT_POSSIBLE_HERE") return undefined;
    throw error;
  }
}

/** Devices and links are there without a text. */
async function readKernelFile(path: string): Promise<string | undefined> {
  try {
    const isFile = (await lstat(path)).isFile();
    return isFile ? await readFile(path, "utf8") : "";
  } catch {
    return undefined;
  }
}
