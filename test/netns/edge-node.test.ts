import { describe, expect, test } from "vitest";
import { requires } from "../support/requires.ts";
import { EdgeStage, NODE_IP, OUTSIDE_IP } from "./edge-stage.ts";

const SUBNET = { subnetwork: "10.18.0.64", subnetworkv6: "fc00::100" };
const WEB = { appName: "web", instanceNumber: 0, portMappings: "8080:80" };
const OTHER = { appName: "other", instanceNumber: 0 };
const A = { serviceName: "web.instance.0", nsAddress: "10.18.0.66", nsAddressv6: "fc00::102" };
const B = { serviceName: "other.instance.0", nsAddress: "10.18.0.67", nsAddressv6: "fc00::103" };

describe("an edge node", requires("linux", "root", "ip", "nft", "curl"), () => {
  test("connects workloads with each other and with those outside, and leaves nothing", async () => {
    const stage = new EdgeStage();
    const untouched = stage.traces();
    const node = await stage.start();
    expect(await stage.rest("/workloads")).toMatchObject({ status: 400 });
    expect(await stage.rest("/register", SUBNET)).toEqual({
      status: 200,
      body: { subnetwork: "10.18.0.64/26", subnetworkv6: "fc00::100/120" },
    });
    const registered = stage.traces();
    const [a, b] = [stage.containerId("a"), stage.madeByOthers("b")];
    const beforeDeploys = stage.traces();
    expect(await stage.rest("/docker/deploy", { containerId: a, ...WEB })).toEqual({
      status: 200,
      body: A,
    });
    const deployed = await stage.rest("/docker/deploy", { containerId: b, ...OTHER });
    expect(deployed).toEqual({ status: 200, body: B });

    const [insideA, insideB] = [stage.inside(a), stage.inside(b)];
    stage.serve(insideA, 80, "web");
    stage.serve(insideB, 80, "other");
    stage.serve(stage.outside, 80, "outside");
    expect(
      await Promise.all([
        stage.curl(insideA, `http://${B.nsAddress}/`),
        stage.curl(insideB, `http://[${A.nsAddressv6}]/`),
        stage.curl(stage.host, `http://${A.nsAddress}/`),
      ]),
    ).toEqual([`other ${A.nsAddress}`, `web ${B.nsAddressv6}`, "web 10.18.0.65"]);
    // A published port, from outside, from the machine itself, and from workloads behind it.
    expect(
      await Promise.all([
        stage.curl(stage.outside, `http://${NODE_IP.v4}:8080/`),
        stage.curl(stage.outside, `http://[${NODE_IP.v6}]:8080/`),
        stage.curl(stage.host, `http://${NODE_IP.v4}:8080/`),
        stage.curl(insideB, `http://${NODE_IP.v4}:8080/`),
        stage.curl(insideB, `http://[${NODE_IP.v6}]:8080/`),
        stage.curl(insideA, `http://${NODE_IP.v4}:8080/`),
        stage.curl(insideA, `http://[${NODE_IP.v6}]:8080/`),
      ]),
    ).toEqual([
      `web ${OUTSIDE_IP.v4}`,
      `web ${OUTSIDE_IP.v6}`,
      `web ${NODE_IP.v4}`,
      "web 10.18.0.65",
      "web fc00::101",
      "web 10.18.0.65",
      "web fc00::101",
    ]);
    // The way out is by the address of the node; the way in is not open.
    expect(
      await Promise.all([
        stage.curl(insideA, `http://${OUTSIDE_IP.v4}/`),
        stage.curl(insideA, `http://[${OUTSIDE_IP.v6}]/`),
      ]),
    ).toEqual([`outside ${NODE_IP.v4}`, `outside ${NODE_IP.v6}`]);
    expect(await stage.curl(stage.outside, `http://${A.nsAddress}/`)).toContain("curl: (7)");
    // What is nobody's service address goes into the tunnel, and never out.
    const calls = ["http://10.30.0.5/", "http://[fdff::5]/"].map((url) =>
      stage.curl(insideA, url, 1),
    );
    expect(await Promise.all(calls)).toEqual([
      expect.stringContaining("curl: ("),
      expect.stringContaining("curl: ("),
    ]);

    for (const { serviceName } of [A, B]) {
      const gone = { status: 200, body: { serviceName, removed: true } };
      expect(await stage.rest("/docker/undeploy", { serviceName })).toEqual(gone);
      const again = { status: 200, body: { serviceName, removed: false } };
      expect(await stage.rest("/docker/undeploy", { serviceName })).toEqual(again);
    }
    expect(stage.traces()).toBe(beforeDeploys);
    expect(registered).not.toBe(untouched);
    expect(await node.stop()).toMatchObject({ code: 0 });
  });

  test("a bridge of somebody else is refused, and stays as it is", async () => {
    const stage = new EdgeStage();
    stage.exec(stage.host, "ip", ["link", "add", "br0", "up", "type", "bridge"]);
    stage.exec(stage.host, "ip", ["address", "add", "192.168.9.1/24", "dev", "br0"]);
    const node = await stage.start("--bridge", "br0");
    const refused = await stage.rest("/register", SUBNET);
    expect(refused.status).toBe(409);
    expect(refused.body).toMatchObject({ message: expect.stringContaining("--bridge: br0") });
    const addresses = stage.exec(stage.host, "ip", ["-br", "address", "show", "dev", "br0"]);
    expect(addresses).toContain("192.168.9.1/24");
    expect(addresses).not.toContain("10.18.0.65");
    expect((await node.stop()).code).toBe(0);
  });

  test("killed and started again it finds everything, and no connection ends", async () => {
    const stage = new EdgeStage();
    const first = await stage.start("--subnet", SUBNET.subnetwork, "--subnet", SUBNET.subnetworkv6);
    const [a, b] = [stage.containerId("a"), stage.containerId("b")];
    await stage.rest("/docker/deploy", { containerId: a, ...WEB });
    await stage.rest("/docker/deploy", { containerId: b, ...OTHER });
    const halves = stage.serveHalves(stage.inside(a), 81);
    const call = stage.curl(stage.inside(b), `http://${A.nsAddress}:81/`);
    await halves.asked;
    const before = stage.traces();
    // The device of the tunnel ends with its process, and is made again.
    const links = () =>
      stage.exec(stage.host, "ip", ["-o", "link"]).replaceAll(/^\d+: portolan-tun:.*\n/gm, "");
    const linksBefore = links();
    await first.stop("SIGKILL");
    // What a process that was killed in the middle of a deployment leaves.
    stage.exec(stage.host, "ip", [
      ...["link", "add", "pve-0123456789", "type", "veth", "peer", "name", "left"],
    ]);
    stage.exec(stage.host, "ip", ["link", "set", "pve-0123456789", "master", "portolan0"]);
    stage.exec(stage.host, "nft", ["delete", "table", "ip", "portolan_edge"]);

    const second = await stage.start();
    expect(stage.traces()).toBe(before);
    expect(links()).toBe(linksBefore);
    halves.release();
    expect(await call).toBe("first second");
    stage.serve(stage.inside(a), 80, "web");
    expect(await stage.curl(stage.inside(b), `http://${A.nsAddress}/`)).toBe(`web ${B.nsAddress}`);
    expect(await stage.curl(stage.outside, `http://${NODE_IP.v4}:8080/`)).toContain("web");
    // The same again is answered as before; a third one gets an address that nobody has.
    expect(await stage.rest("/docker/deploy", { containerId: a, ...WEB })).toEqual({
      status: 200,
      body: A,
    });
    const third = { containerId: stage.containerId("c"), appName: "web", instanceNumber: 1 };
    expect(await stage.rest("/docker/deploy", third)).toMatchObject({
      body: { nsAddress: "10.18.0.68" },
    });
    await second.stop();

    const { code, stdout } = await stage.cli("cleanup", "--edge", "--state", stage.folder);
    expect([code, stdout]).toEqual([0, "edge: nothing is left (workloads: 3)\n"]);
    expect(stage.traces()).not.toMatch(/portolan|pve-|unreachable|ptest/);
  });
});
