import { X509Certificate } from "node:crypto";
import { describe, expect, test } from "vitest";
import { requires } from "../support/requires.ts";
import { addressesOf, EdgeHosts, SOON } from "./edge-hosts.ts";

const NEEDED = requires("linux", "root", "ip", "nft", "curl");
/** So that an absence of some seconds is longer than anything that is given for a time. */
const SHORT = ["--certificate-lifetime", "12s"];

describe("a node that is away for longer than its certificate is good", NEEDED, () => {
  test("goes on with what it knows, and catches up", { timeout: 150_000 }, async () => {
    const hosts = new EdgeHosts();
    const manager = await hosts.startManager("a", ...SHORT);
    const token = ["--token-file", await hosts.tokenFile()];
    const [, agentB] = await Promise.all([hosts.join("a", ...token), hosts.join("b", ...token)]);
    // Who joins says nothing that a manager would have to warn of.
    expect(manager.stderr).not.toContain("handshake");
    // Its networks are those that the manager gave.
    const other = await hosts.stage("a").rest("/register", { subnetwork: "10.19.0.0" });
    expect([other.status, JSON.stringify(other.body)]).toEqual([
      409,
      expect.stringContaining("the manager gave this node 10.18.0."),
    ]);
    await hosts.deploy("a", "shop", 0);
    await hosts.deploy("b", "till", 0);
    const web0 = addressesOf(await hosts.deploy("b", "web", 0));
    const old = addressesOf(await hosts.deploy("a", "old", 0));
    await expect.poll(() => hosts.answers("shop0", web0("RR"), 2), SOON).toBe("web0");
    await expect.poll(() => hosts.answers("till0", old("RR"), 1), SOON).toBe("old0");

    hosts.ip("router", "link set to-b down");
    const goodUntil = () =>
      Date.parse(new X509Certificate(hosts.readState("b", "membership/node.pem")).validTo);
    await expect.poll(() => goodUntil() < Date.now(), SOON).toBe(true);
    await expect.poll(() => hosts.answers("shop0", web0("RR"), 1), SOON).toBe("failed");
    // Elsewhere things change, and the manager starts anew; it gives certificates for longer from now on.
    await hosts.deploy("a", "web", 1);
    await hosts.stage("a").rest("/docker/undeploy", { serviceName: "old.instance.0" });
    await manager.stop();
    await hosts.startManager();
    // On that machine what is known goes on, also after a restart, and things change as well.
    expect(await hosts.answers("till0", web0("RR"), 2)).toBe("web0");
    await agentB.stop("SIGKILL");
    const secondB = await hosts.stage("b").start("--node", "b");
    await expect.poll(() => hosts.answers("till0", web0("RR"), 1), SOON).toBe("web0");
    await hosts.deploy("b", "web", 2);

    hosts.ip("router", "link set to-b up");
    await expect.poll(() => hosts.answers("shop0", web0("RR"), 6), SOON).toBe("web0 web1 web2");
    await expect.poll(() => hosts.answers("till0", web0("RR"), 6), SOON).toBe("web0 web1 web2");
    expect(JSON.stringify(await hosts.stage("b").rest("/table"))).not.toContain('"old"');
    expect(goodUntil()).toBeGreaterThan(Date.now() + 3_600_000);
    expect(secondB.stderr).not.toContain("join again");
  });
});
