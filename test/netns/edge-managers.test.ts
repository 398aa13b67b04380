import { describe, expect, test } from "vitest";
import { requires } from "../support/requires.ts";
import { EdgeEtcd } from "./edge-etcd.ts";
import { addressesOf, EdgeHosts, SOON } from "./edge-hosts.ts";

const NEEDED = requires("linux", "root", "ip", "nft", "curl", "ping", "etcd", "etcdctl");

describe("an edge with managers on two machines and an etcd on three", NEEDED, () => {
  test("goes on where managers and a member of etcd are killed", { timeout: 120_000 }, async () => {
    const hosts = new EdgeHosts();
    const etcd = await EdgeEtcd.start(hosts);
    const args = ["--manager-etcd", etcd.addresses];
    const [first, second] = [
      await hosts.startManager("a", ...args),
      await hosts.startManager("b", ...args),
    ];
    const token = ["--token-file", await hosts.tokenFile()];
    // They are told of the one on a only, which tells them of the one on b.
    const agents = await Promise.all([
      hosts.join("a", ...token),
      hosts.join("b", ...token),
      hosts.join("c", ...token),
    ]);
    await hosts.deploy("a", "shop", 0);
    const web0 = addressesOf(await hosts.deploy("b", "web", 0));
    await hosts.deploy("c", "web", 1);
    const answers = () => hosts.answers("shop0", web0("RR"), 8);
    await expect.poll(answers, SOON).toBe("web0 web1");
    for (const host of ["a", "b", "c"] as const) {
      const managers = () => hosts.readState(host, "membership/membership.json");
      await expect.poll(managers, SOON).toContain("192.168.2.2:12090");
    }

    const { sent, received } = await hosts.pings("shop0", web0("InstanceNumber"), async () => {
      await first.stop("SIGKILL");
      // What runs from now on is known by the other manager, from one node and to another.
      const web2 = addressesOf(await hosts.deploy("c", "web", 2));
      expect(web2("RR")).toBe(web0("RR"));
      await expect.poll(answers, SOON).toBe("web0 web1 web2");

      await etcd.kill(await etcd.leader());
      await hosts.deploy("b", "web", 3);
      await expect.poll(answers, SOON).toBe("web0 web1 web2 web3");

      await hosts.startManager("a", ...args);
      await second.stop("SIGKILL");
      await hosts.deploy("a", "web", 4);
      await expect.poll(answers, SOON).toBe("web0 web1 web2 web3 web4");
      await hosts.stage("c").rest("/docker/undeploy", { serviceName: "web.instance.1" });
      await expect.poll(answers, SOON).toBe("web0 web2 web3 web4");
    });
    expect(sent).toBeGreaterThan(20);
    expect(received).toBe(sent);
    for (const agent of agents) expect(agent.stderr).toContain("another manager is asked");
  });
});
