import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { startCli } from "../support/cli.ts";
import { freePort } from "../support/named-server.ts";
import { requires } from "../support/requires.ts";

const run = promisify(execFile);

async function dig(port: number, ...args: readonly string[]): Promise<readonly string[]> {
  const common = ["@127.0.0.1", "-p", String(port), "+short", "+tries=1", "+time=5"];
  const { stdout } = await run("dig", [...common, ...args]);
  return stdout.trim().split("\n").sort();
}

test(
  "a state file makes a DNS server, and its hosts file is followed",
  requires("dig"),
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "portolan-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const port = await freePort();
    const [state, hosts] = [join(folder, "state.yaml"), join(folder, "hosts")];
    writeFileSync(hosts, "192.0.2.7 host.example\n");
    writeFileSync(
      state,
      `
version: 1
services:
  names:
    listen: { address: "127.0.0.1:${port}", mode: dns, hostsFile: ${hosts}, dnsTtl: 77s }
    groups:
      - { name: shop, hints: { host: shop.example } }
groups:
  shop: { servers: [10.0.0.1:80, 10.0.0.2:81] }
`,
    );
    const cli = startCli(["run", "--from", `file:${state}`, "--to", "userspace"]);
    await cli.waitFor(/"msg":"serving /, "stderr");
    expect(await dig(port, "shop.example")).toEqual(["10.0.0.1", "10.0.0.2"]);
    expect(await dig(port, "+tcp", "SRV", "shop.example")).toEqual([
      "0 1 80 10-0-0-1.shop.example.",
      "0 1 81 10-0-0-2.shop.example.",
    ]);
    const [answer] = await dig(port, "+noshort", "+noall", "+answer", "shop.example");
    expect(answer).toMatch(/^shop\.example\.\s+77\s+IN\s+A\s/);
    expect(await dig(port, "host.example")).toEqual(["192.0.2.7"]);
    writeFileSync(hosts, "192.0.2.8 host.example # moved\n");
    await expect.poll(() => dig(port, "host.example"), { timeout: 10_000 }).toEqual(["192.0.2.8"]);
  },
);
