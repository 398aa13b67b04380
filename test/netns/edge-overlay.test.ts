import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { runCli } from "../support/cli.ts";
import { requires } from "../support/requires.ts";
import { addressesOf, EdgeHosts, SOON } from "./edge-hosts.ts";

const viewSchema = z.object({
  view: z.object({
    services: z.array(
      z.object({ key: z.string(), instances: z.array(z.object({ number: z.number() })) }),
    ),
  }),
});

/** How many connections to a port the node has written down for the process after it. */
function keptConnections(folder: string, port: number): number {
  const lines = readFileSync(join(folder, "flows.jsonl"), "utf8").split("\n");
  return lines.filter((line) => (Number(/"ports":(-?\d+)/.exec(line)?.[1]) & 0xffff) === port)
    .length;
}

/** Numbers of the instances that a node would go on with if it were started without a manager. */
function keptInstances(folder: string, key: string): readonly number[] {
  const text = readFileSync(join(folder, "membership", "view.json"), "utf8");
  const { view } = viewSchema.parse(JSON.parse(text));
  const service = view.services.find((one) => one.key === key);
  return (service?.instances ?? []).map(({ number }) => number).sort();
}

describe("an edge of three machines", requires("linux", "root", "ip", "nft", "curl"), () => {
  test("talks by service addresses, whatever restarts", { timeout: 120_000 }, async () => {
    const hosts = new EdgeHosts();
    const manager = await hosts.startManager();
    const token = ["--token-file", await hosts.tokenFile()];
    const [agentA, agentB] = await Promise.all([
      hosts.join("a", ...token),
      hosts.join("b", ...token),
      hosts.join("c", ...token),
    ]);
    await hosts.deploy("a", "shop", 0);
    const web0 = addressesOf(await hosts.deploy("b", "web", 0));
    const web1 = addressesOf(await hosts.deploy("c", "web", 1));

    // Nobody on this node has asked for it, so it does not know it; whoever calls has it looked up.
    expect(JSON.stringify(await hosts.stage("a").rest("/table"))).not.toContain("web");
    for (const family of ["v4", "v6"] as const) {
      const rr = web0("RR", family);
      await expect.poll(() => hosts.answers("shop0", rr, 2), SOON).toBe("web0 web1");
      expect(await hosts.answers("shop0", rr, 4)).toBe("web0 web1");
      expect(await hosts.answers("shop0", web0("InstanceNumber", family), 2)).toBe("web0");
      expect(await hosts.answers("shop0", web1("InstanceNumber", family), 2)).toBe("web1");
      expect(await hosts.answers("web0", rr, 4)).toBe("web0 web1");
    }
    expect(JSON.stringify(await hosts.stage("a").rest("/table"))).toContain("web");

    const { host, folder } = hosts.stage("a");
    const status = () => host.run(() => runCli(["edge", "status", "--state", folder]));
    await expect
      .poll(async () => (await status()).stdout, SOON)
      .toMatch(
        /b +192\.168\.2\.2:50103 +secure +[\d.]+ ms[\s\S]*tcp +10\.18\S+ +10\.30\S+ +web\.instance/,
      );

    // Scale up, and the closest is the one on the same machine; needs are there before a workload is.
    await hosts.deploy("a", "web", 2);
    await hosts.deploy("a", "till", 0, { needs: ["web"] });
    expect(await hosts.answers("till0", web0("Closest"), 3)).toBe("web2");
    await expect.poll(() => hosts.answers("web1", web0("RR"), 6), SOON).toBe("web0 web1 web2");
    // And down.
    await hosts.stage("a").rest("/docker/undeploy", { serviceName: "web.instance.2" });
    await expect.poll(() => hosts.answers("shop0", web0("RR"), 4), SOON).toBe("web0 web1");

    // Agents are killed and started again while connections to both instances go on.
    const halves = [
      hosts.stage("b").serveHalves(hosts.inside("web0"), 81),
      hosts.stage("c").serveHalves(hosts.inside("web1"), 81),
    ];
    const url = `http://${web0("RR")}:81/`;
    const calls = Array.from({ length: 4 }, () =>
      hosts.stage("a").curl(hosts.inside("shop0"), url, 60),
    );
    await Promise.all(halves.map(({ asked }) => asked));
    await expect.poll(() => keptConnections(hosts.stage("a").folder, 81), SOON).toBe(4);
    await agentA.stop("SIGKILL");
    const secondA = await hosts.join("a");
    await agentB.stop("SIGKILL");
    await hosts.stage("b").start("--node", "b");
    for (const { release } of halves) release();
    expect(await Promise.all(calls)).toEqual(Array.from({ length: 4 }, () => "first second"));

    // Without a manager traffic goes on, also through a node that is started meanwhile. On a slow machine the
    // manager took b for dead while it was: then its instance is back when the manager has heard of it.
    await expect
      .poll(() => keptInstances(hosts.stage("a").folder, "default/web"), SOON)
      .toEqual([0, 1]);
    await manager.stop("SIGKILL");
    expect(await hosts.answers("shop0", web0("RR"), 4)).toBe("web0 web1");
    await secondA.stop("SIGKILL");
    await hosts.stage("a").start("--node", "a");
    await expect.poll(() => hosts.answers("shop0", web0("RR", "v6"), 4), SOON).toBe("web0 web1");
    // What is deployed now is told to others when it is back.
    await hosts.deploy("c", "web", 3);
    await hosts.startManager();
    await expect.poll(() => hosts.answers("shop0", web0("RR"), 6), SOON).toBe("web0 web1 web3");
  });
});
