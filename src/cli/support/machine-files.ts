import { readdir, readFile, stat } from "node:fs/promises";
import os from "node:os";
import { join } from "node:path";
import process from "node:process";
import { loadAllBackends } from "../../backends/registry.ts";
import { readThisMachine } from "../../daemon/this-machine.ts";
import { readVersion } from "../../daemon/version.ts";
import type { CliContext } from "../command-spec.ts";
import type { ArchivedFile } from "./tar.ts";

/** Read where they are there; each says a limit that something here may have met. */
const LIMIT_FILES = [
  "/proc/self/limits",
  "/proc/sys/fs/file-max",
  "/proc/sys/net/core/somaxconn",
  "/proc/sys/net/ipv4/ip_local_port_range",
  "/proc/sys/net/ipv4/ip_unprivileged_port_start",
  "/proc/sys/net/netfilter/nf_conntrack_max",
  "/sys/fs/cgroup/memory.max",
  "/sys/fs/cgroup/cpu.max",
] as const;

/** What a bug report needs to know of this machine; no contents of files of the user. */
export async function machineFiles(
  context: CliContext,
  stateFolder: string,
): Promise<readonly ArchivedFile[]> {
  return [
    { name: "machine.json", text: json(machineFacts()) },
    { name: "limits.txt", text: await limits() },
    { name: "backends.json", text: json(await backendFindings()) },
    { name: "environment.txt", text: variables(context.environment) },
    { name: "state-folder.txt", text: await folderListing(stateFolder) },
  ];
}

function machineFacts(): object {
  const { version: node, platform, arch, versions } = process;
  return {
    portolan: readVersion(),
    node,
    platform,
    arch,
    openssl: versions.openssl,
    kernel: `${os.type()} ${os.release()} ${os.version()}`,
    cores: os.availableParallelism(),
    processor: os.cpus()[0]?.model ?? "unknown",
    memoryBytes: os.totalmem(),
    freeMemoryBytes: os.freemem(),
    load: os.loadavg(),
    uptimeSeconds: os.uptime(),
    isRoot: readThisMachine().isRoot,
  };
}

async function limits(): Promise<string> {
  const texts = LIMIT_FILES.map(async (path) => {
    const text = await readFile(path, "utf8").catch(() => "not there\n");
    return `== ${path}\n${text}`;
  });
  return (await Promise.all(texts)).join("\n");
}

/** Which backends work here, as `--to auto` asks them. */
async function backendFindings(): Promise<object> {
  const machine = readThisMachine();
  const backends = await loadAllBackends();
  return Promise.all(
    backends.map(async ({ name, probe }) => {
      const findings = await probe(machine).catch((error: unknown) => [
        { severity: "missing", what: String(error), remedy: "this is a bug" },
      ]);
      return { name, findings };
    }),
  );
}

/** Our own variables alone; others are nobody's business. */
function variables(environment: CliContext["environment"]): string {
  const lines = Object.entries(environment)
    .filter(([name]) => /^(?:PORTOLAN_|NODE_OPTIONS$)/.test(name))
    .map(([name, value]) => `${name}=${value ?? ""}\n`);
  return lines.length === 0 ? "no PORTOLAN_ variables\n" : lines.sort().join("");
}

async function folderListing(folder: string): Promise<string> {
  const names = await readdir(folder, { recursive: true }).catch(() => undefined);
  if (names === undefined) return "there is no state folder\n";
  const lines = names.sort().map(async (name) => {
    const facts = await stat(join(folder, name)).catch(() => undefined);
    if (facts === undefined) return `${name}: gone\n`;
    const mode = (facts.mode & 0o7777).toString(8);
    return `${name}: ${facts.size} bytes, mode ${mode}, ${facts.mtime.toISOString()}\n`;
  });
  return (await Promise.all(lines)).join("") || "the state folder is empty\n";
}

function json(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
