import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { hostLinkOf } from "../../src/edge/environment/link-names.ts";
import {
  namedNamespacePath,
  removeNamedNamespace,
} from "../../src/platform/linux/named-namespace.ts";
import { requires } from "../support/requires.ts";
import { EdgeStage } from "./edge-stage.ts";
import { followEvents } from "./follow-events.ts";

const NODE = ["--subnet", "10.18.0.64/26", "--subnet", "fc00::100/120"];

/** A process in a network of its own, as an engine starts them; it goes with the test. */
async function startContained(): Promise<ChildProcess & { readonly pid: number }> {
  const child = spawn("unshare", ["-n", "sh", "-c", "echo ready; exec cat"], { stdio: "pipe" });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  const { pid } = child;
  if (pid === undefined) throw new Error("it did not start");
  return Object.assign(child, { pid });
}

/** A stand-in of the Docker API that knows some containers by name. */
async function startEngine(path: string, pids: Readonly<Record<string, number>>): Promise<void> {
  const server = createServer((request, response) => {
    const name = /^\/containers\/([^/]+)\/json$/.exec(request.url ?? "")?.[1] ?? "";
    const pid = pids[name];
    response.writeHead(pid === undefined ? 404 : 200, { "content-type": "application/json" });
    const found = { Id: "8dfafdbc3a40", State: { Running: pid !== 0, Pid: pid } };
    response.end(JSON.stringify(pid === undefined ? { message: "No such container" } : found));
  });
  server.listen(path);
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
}

describe("the REST API of an edge node", requires("linux", "root", "ip", "nft", "ping"), () => {
  test("refuses what is wrong with the field, and goes on", async () => {
    const stage = new EdgeStage();
    const { pid } = await stage.start(...NODE);
    const good = { containerId: stage.containerId("a"), appName: "web", instanceNumber: 0 };
    const file = stage.containerId("file");
    writeFileSync(namedNamespacePath(file.replace("netns:", "")), "");
    const before = stage.traces();
    const refused = (status: number, path: string) => ({ status, body: { problems: [{ path }] } });
    const said = (status: number, words: string) => ({
      status,
      body: { message: expect.stringContaining(words) },
    });
    const deploys: readonly (readonly [object, string])[] = [
      [{ containerId: undefined }, "containerId"],
      [{ containerId: "netns:../x" }, "containerId"],
      [{ containerId: "4194303" }, "containerId"],
      [{ containerId: file }, "containerId"],
      [{ containerId: String(pid) }, "containerId"],
      [{ appName: "" }, "appName"],
      [{ instanceNumber: -1 }, "instanceNumber"],
      [{ instanceNumber: "0" }, "instanceNumber"],
      [{ nodeIp: "300.1.1.1" }, "nodeIp"],
      [{ nodePort: 70000 }, "nodePort"],
      [{ serviceIp: [{ IpType: "LRU", Address: "10.30.0.1" }] }, "serviceIp[0].IpType"],
      [{ serviceIp: [{ IpType: "RR", Address: "10.31.0.1" }] }, "serviceIp[0].Address"],
      [{ portMappings: "80/sctp" }, "portMappings"],
      [{ portMappings: "50103/udp" }, "portMappings"],
      [{ apName: "web" }, "apName"],
    ];
    for (const [change, field] of deploys) {
      const answer = await stage.rest("/docker/deploy", { ...good, ...change });
      expect(answer).toMatchObject(refused(400, field));
    }
    for (const subnetwork of ["10.30.1.0/24", "192.0.2.0/26", "10.18.0.64/31", "fc00::"]) {
      const answer = await stage.rest("/register", { subnetwork });
      expect(answer).toMatchObject(refused(400, "subnetwork"));
    }
    const current = { pid: 4_194_303, serviceName: "web", instanceNumber: 0 };
    for (const [change, field] of [
      [{}, "pid"],
      [{ pid }, "pid"],
      [{ serviceName: "we b" }, "serviceName"],
    ] as const) {
      const answer = await stage.rest("/container/deploy", { ...current, ...change });
      expect(answer).toMatchObject(refused(400, field));
    }
    const undeployed = await stage.rest("/docker/undeploy", {});
    expect(undeployed).toMatchObject(refused(400, "serviceName"));
    expect(await stage.rest("/docker/deploy", "{")).toMatchObject(said(400, "JSON"));
    const long = await stage.rest("/docker/deploy", "x".repeat(70_000));
    expect(long).toMatchObject(said(413, "65536 bytes"));
    expect(await stage.rest("/nothing")).toMatchObject({ status: 404 });
    expect(await stage.rest("/docker/deploy")).toMatchObject({ status: 405 });
    expect(stage.traces()).toBe(before);
    expect(await stage.rest("/docker/deploy", good)).toMatchObject({ status: 200 });
    // Who does not name the other network means the one that there is.
    const again = await stage.rest("/register", { subnetwork: "10.18.0.64" });
    expect(again).toMatchObject({ status: 200, body: { subnetworkv6: "fc00::100/120" } });
    const other = await stage.rest("/register", { subnetwork: "10.18.1.0" });
    expect(other).toMatchObject(said(409, "1 workloads"));
    const taken = { ...good, containerId: stage.containerId("b") };
    expect(await stage.rest("/docker/deploy", taken)).toMatchObject(said(409, "is deployed with"));
    expect(await stage.rest("/node")).toMatchObject({
      body: { workloads: { up: 1, lost: 0 }, addresses: { used: 1, capacity: 61 } },
    });
  });

  test("finds containers by pid, and by name at the engine, and tells when one is gone", async () => {
    const stage = new EdgeStage();
    const [first, second] = [await startContained(), await startContained()];
    const engine = join(stage.folder, "docker.sock");
    await startEngine(engine, { shop: second.pid, stopped: 0 });
    await stage.start(...NODE, "--engine-socket", engine);
    const events = followEvents(stage);
    const byPid = { pid: first.pid, serviceName: "a.b.c.d", instanceNumber: 1, portMappings: "" };
    expect(await stage.rest("/container/deploy", byPid)).toEqual({
      status: 200,
      body: {
        serviceName: "a.b.c.d.instance.1",
        nsAddress: "10.18.0.66",
        nsAddressv6: "fc00::102",
      },
    });
    const byName = {
      containerId: "shop",
      appName: "shop",
      instanceNumber: 0,
      portMappings: "7000",
    };
    expect(await stage.rest("/docker/deploy", byName)).toMatchObject({ status: 200 });
    const ping = ["-t", String(first.pid), "-n", "ping", "-c1", "-W5", "10.18.0.67"];
    expect(execFileSync("nsenter", ping, { encoding: "utf8" })).toContain("1 received");
    for (const containerId of ["nobody", "stopped"]) {
      expect(
        await stage.rest("/docker/deploy", { ...byName, containerId, instanceNumber: 1 }),
      ).toMatchObject({ status: 400, body: { problems: [{ path: "containerId" }] } });
    }

    second.kill("SIGKILL");
    await events.until(/event: failed\ndata: .*shop\.instance\.0/);
    expect(await stage.rest("/workloads/shop.instance.0")).toMatchObject({
      body: { health: "lost" },
    });
    expect(stage.exec(stage.host, "nft", ["list", "ruleset"])).not.toContain("7000");
    const { code, stdout } = await stage.cli("edge", "status", "--state", stage.folder);
    expect([code, stdout]).toEqual([1, expect.stringMatching(/shop\.instance\.0 +lost/)]);
    // The engine starts it again, under the same name.
    const third = await startContained();
    const again = { ...byName, containerId: String(third.pid) };
    expect(await stage.rest("/docker/deploy", again)).toMatchObject({ status: 200 });
    const undeploy = { serviceName: "a.b.c.d", instanceNumber: 1 };
    expect(await stage.rest("/container/undeploy", undeploy)).toEqual({
      status: 200,
      body: { serviceName: "a.b.c.d.instance.1", removed: true },
    });
    await events.until(/event: undeployed\ndata: .*a\.b\.c\.d\.instance\.1/);
    expect(await stage.rest("/workloads")).toMatchObject({
      body: { workloads: [{ serviceName: "shop.instance.0", health: "up" }] },
    });
  });

  test("a deployment waits for what it needs, and is refused where that does not come", async () => {
    const stage = new EdgeStage();
    await stage.start(...NODE, "--needs-timeout", "20s");
    const shop = { appName: "shop", instanceNumber: 0, containerId: stage.containerId("shop") };
    const waiting = stage.rest("/docker/deploy", { ...shop, needs: ["database"] });
    const database = { appName: "database", instanceNumber: 0 };
    const deployed = await stage.rest("/docker/deploy", {
      ...database,
      containerId: stage.containerId("db"),
      serviceIp: [{ IpType: "RR", Address: "10.30.0.9", Address_v6: "fdff:2000::9" }],
      nodeIp: "198.51.100.7",
      nodePort: 50104,
    });
    expect(deployed.status).toBe(200);
    expect(await waiting).toMatchObject({ status: 200 });
    expect(await stage.rest("/table")).toMatchObject({
      body: {
        table: [
          {
            appName: "database",
            nodeIp: "198.51.100.7",
            nodePort: 50104,
            serviceIp: [
              { IpType: "RR", Address: "10.30.0.9" },
              { IpType: "RR", Address: "fdff:2000::9" },
            ],
          },
          { appName: "shop", nodeIp: "192.0.2.1", nodePort: 50103, serviceIp: [] },
        ],
      },
    });
  });

  test("a need that nobody has is told by its place", async () => {
    const stage = new EdgeStage();
    await stage.start(...NODE, "--needs-timeout", "1ms");
    const shop = { appName: "shop", instanceNumber: 0, containerId: stage.containerId("shop") };
    const before = stage.traces();
    expect(await stage.rest("/docker/deploy", { ...shop, needs: ["database"] })).toMatchObject({
      status: 404,
      body: { problems: [{ path: "needs[0]", value: '"database"' }] },
    });
    expect(stage.traces()).toBe(before);
  });

  test("a link that somebody removes is made again, and a namespace that is gone is told", async () => {
    const stage = new EdgeStage();
    await stage.start(...NODE);
    const [a, b] = [stage.madeByOthers("a"), stage.madeByOthers("b")];
    const events = followEvents(stage);
    await stage.rest("/docker/deploy", { containerId: a, appName: "a", instanceNumber: 0 });
    await stage.rest("/docker/deploy", { containerId: b, appName: "b", instanceNumber: 0 });
    const hostLink = hostLinkOf("a.instance.0");
    const right = stage.traces();
    stage.exec(stage.host, "ip", ["link", "delete", hostLink]);
    removeNamedNamespace(b.replace("netns:", ""));
    await events.until(/event: failed\ndata: .*b\.instance\.0/);
    expect(stage.traces()).toContain(hostLink);
    stage.inside(a).run(() => execFileSync("ping", ["-c1", "-W5", "10.18.0.65"]));
    expect(right).toContain(hostLink);
  });
});
