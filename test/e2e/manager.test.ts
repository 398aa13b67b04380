import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ManagerClient } from "../../src/brain/manager/client/manager-client.ts";
import {
  membershipFiles,
  renewCertificate,
} from "../../src/brain/manager/client/node-membership.ts";
import { managerPlace, TestNode, web, words } from "./manager-fixture.ts";

const SLOW = 60_000;

test(
  "a node joins with a token, gets networks and addresses, and only then may ask",
  async () => {
    const place = await managerPlace();
    await place.start(["--node-timeout", "1m"]);
    const token = await place.ask("token", "create", "--uses", "1");
    const node = new TestNode("edge-1");
    const terms = await node.join(place, token);
    expect(terms).toMatchObject({ subnets: ["10.18.0.0/26", "fc00::/120"], timeoutMs: 60_000 });

    const wrong = token.trim().replace(/\.[\w-]{43}\./, `.${"A".repeat(43)}.`);
    await expect(new TestNode("x").join(place, wrong)).rejects.toMatchObject({
      code: "ERR_UNAUTHORIZED",
      message: expect.stringContaining("it is not known here, or was revoked"),
    });
    await expect(new TestNode("x").join(place, token)).rejects.toThrow("it was used up");
    const elsewhere = token.trim().replace(/[\w-]{43}$/, "B".repeat(43));
    await expect(new TestNode("x").join(place, elsewhere)).rejects.toThrow(
      "is not the one that the join token is of",
    );

    expect(await node.call(place, "Renew", { addresses: ["192.0.2.9"] })).toMatchObject({
      node: "edge-1",
      subnets: terms.subnets,
    });
    const shown = readFileSync(membershipFiles(node.folder).certFile, "utf8");
    expect(await renewCertificate(place.address, node.folder)).toBeGreaterThanOrEqual(
      terms.credentials.expiresMs,
    );
    expect(readFileSync(membershipFiles(node.folder).certFile, "utf8")).not.toBe(shown);
    const deployed = await node.call(place, "Deploy", web(0, "10.18.0.2"));
    expect(deployed).toMatchObject({
      edgeIPs: [{ address: "10.30.0.1", policy: "round-robin" }, {}, {}, {}, {}, {}],
    });
    await expect(node.call(place, "Deploy", { ...web(0, "no"), more: 1 })).rejects.toThrow(
      /addresses\[0\].*an IPv4 or IPv6 address/s,
    );
    await expect(node.call(place, "ListTokens", {})).rejects.toThrow("own machine only");

    const { caFile } = membershipFiles(node.folder);
    const stranger = await ManagerClient.connect({ address: place.address, tls: { caFile } });
    await expect(stranger.call("Renew", {})).rejects.toMatchObject({ code: "ERR_UNAUTHORIZED" });
    stranger.close();

    expect(await place.ask("table", "10.30.0.1")).toMatch(/default\/web 0 +10\.18\.0\.2 +edge-1/);
    const json: unknown = JSON.parse(await place.ask("table", "edge-1", "--json"));
    expect(json).toMatchObject({ nodes: [{ addresses: ["192.0.2.9"], isAlive: true }] });

    await place.ask("remove", "edge-1");
    await expect(node.call(place, "Renew", {})).rejects.toThrow("not good any more");
    await expect(place.ask("table", "default/web")).rejects.toThrow("means nothing here");
  },
  SLOW,
);

test(
  "a node follows the services that it names, as itself only",
  async () => {
    const place = await managerPlace();
    await place.start();
    const token = await place.ask("token", "create");
    const [a, b] = [new TestNode("a"), new TestNode("b")];
    await a.join(place, token);
    await b.join(place, token);
    await a.call(place, "Deploy", web(0, "10.18.0.2"));
    await a.call(place, "Deploy", { ...web(0, "10.18.0.3"), service: "default/db" });
    const watcher = b.follow(place, ["default/web"]);
    expect(words(await watcher.next())).toEqual([
      "reset",
      "set default/web",
      "set default/web/web-0",
      "sync",
    ]);
    const next = watcher.next();
    await a.call(place, "Undeploy", { service: "default/db", instance: 0 });
    await a.call(place, "Deploy", web(1, "10.18.0.4"));
    expect(words(await next)).toEqual(["set default/web", "set default/web/web-1", "sync"]);

    const asOther = b.follow(place, [], "a");
    void asOther.next().catch(() => undefined);
    await expect
      .poll(() => asOther.report.failures[0]?.message)
      .toContain("node b may not follow node a");
  },
  SLOW,
);

test(
  "a node whose certificate ended while it was away is heard for a new one, and for nothing else",
  async () => {
    const place = await managerPlace();
    const first = await place.start(["--certificate-lifetime", "4s"]);
    const token = await place.ask("token", "create");
    const [a, gone] = [new TestNode("a"), new TestNode("gone")];
    await a.join(place, token);
    await gone.join(place, token);
    await first.stop();
    await place.start();
    const deploy = () => a.call(place, "Deploy", web(0, "10.18.0.2"));
    await expect.poll(() => deploy().catch(String)).toContain("is not good any more");
    const asNode = a.follow(place, ["default/web"]);
    void asNode.next().catch(() => undefined);
    await expect.poll(() => asNode.report.failures[0]?.message).toContain("is not good any more");

    await place.ask("remove", "gone");
    await expect(gone.call(place, "Renew", {})).rejects.toThrow("is not good any more");
    expect(await a.call(place, "Renew", {})).toMatchObject({ node: "a" });
    await renewCertificate(place.address, a.folder);
    expect(await deploy()).toMatchObject({ instance: 0 });
  },
  SLOW,
);

test(
  "a manager that is killed has all that it answered when it is back",
  async () => {
    const place = await managerPlace();
    const first = await place.start();
    const token = await place.ask("token", "create");
    const revoked = await place.ask("token", "create");
    await place.ask("token", "revoke", revoked.split(".")[1] ?? "");
    const nodes = [new TestNode("a"), new TestNode("b")];
    const terms = await Promise.all(nodes.map((node) => node.join(place, token)));
    const [a, b] = nodes;
    if (a === undefined || b === undefined) throw new Error("two nodes");
    // One after the other: each is told the addresses that there are by then.
    await a.call(place, "Deploy", web(0, "10.18.0.2"));
    const deployed = await b.call(place, "Deploy", web(1, "10.18.0.66"));
    const table = await place.ask("table", "web", "--json");
    const pem = readFileSync(membershipFiles(a.folder).certFile, "utf8");
    await first.stop("SIGKILL");
    await place.start();
    expect(await place.ask("table", "web", "--json")).toBe(table);
    expect(await a.call(place, "Renew", {})).toMatchObject({ subnets: terms[0]?.subnets });
    expect(readFileSync(membershipFiles(a.folder).certFile, "utf8")).toBe(pem);
    expect(await b.call(place, "Deploy", web(1, "10.18.0.66"))).toEqual(deployed);
    await expect(new TestNode("c").join(place, revoked)).rejects.toThrow("was revoked");
    const { subnets } = await new TestNode("c").join(place, token);
    expect(terms.flatMap((each) => each.subnets)).not.toContain(subnets[0]);
  },
  SLOW,
);

test(
  "a node that does not renew is dead: its instances leave all tables, and come back with it",
  async () => {
    const place = await managerPlace();
    await place.start(["--node-timeout", "3s"]);
    const token = await place.ask("token", "create");
    const [a, b] = [new TestNode("a"), new TestNode("b")];
    const { renewEveryMs } = await a.join(place, token);
    expect(renewEveryMs).toBe(1000);
    await b.join(place, token);
    const stop = await a.keepAlive(place, 300);
    await a.call(place, "Deploy", web(0, "10.18.0.2"));
    const watcher = b.follow(place, ["default/web"]);
    expect(words(await watcher.next())).toContain("set default/web/web-0");
    stop();
    expect(words(await watcher.next())).toEqual(["delete default/web/web-0", "sync"]);
    const json: unknown = JSON.parse(await place.ask("table", "a", "--json"));
    expect(json).toMatchObject({
      nodes: [{ isAlive: false, subnets: ["10.18.0.0/26", "fc00::/120"] }],
    });
    await a.call(place, "Renew", {});
    expect(words(await watcher.next())).toContain("set default/web/web-0");
  },
  SLOW,
);
