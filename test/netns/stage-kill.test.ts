import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readlinkSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test, vi } from "vitest";
import { requires } from "../support/requires.ts";

const HOLDER = fileURLToPath(new URL("./stage-holder.fixture.ts", import.meta.url));
const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const ENDS_WITHIN_MS = 20_000;

/** The network namespaces that processes are in or hold open. */
function namespacesInUse(): ReadonlySet<string> {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return new Set(
    pids.flatMap((pid) => [
      linkOf(`/proc/${pid}/ns/net`),
      ...entriesOf(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`)),
    ]),
  );
}

/** Empty for what ended in the meantime. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

function entriesOf(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

test(
  "nothing is left of a stage whose process is killed",
  requires("linux", "root", "ip"),
  async () => {
    const holder = spawn(process.execPath, ["--import", import.meta.resolve("tsx"), HOLDER], {
      cwd: ROOT,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = await once(createInterface(holder.stdout), "line");
    const held = entriesOf(`/proc/${holder.pid}/fd`)
      .map((fd) => linkOf(`/proc/${holder.pid}/fd/${fd}`))
      .filter((link) => link.startsWith("net:"));
    expect(held).toHaveLength(7);
    expect(held).toContain(linkOf(`/proc/${line}/ns/net`));
    holder.kill("SIGKILL");
    await once(holder, "exit");
    // The backend's process notices that nobody talks to it any more.
    await vi.waitFor(() => expect(linkOf(`/proc/${line}/ns/net`)).toBe(""), ENDS_WITHIN_MS);
    const inUse = namespacesInUse();
    expect(held.filter((namespace) => inUse.has(namespace))).toEqual([]);
  },
);
