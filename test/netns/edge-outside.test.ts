import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { requires } from "../support/requires.ts";
import { curl } from "./curl.ts";
import { EdgeHosts } from "./edge-hosts.ts";
import { EdgeMachines } from "./edge-machines.ts";
import { EdgeStage, NODE_IP, OUTSIDE_IP } from "./edge-stage.ts";
import { askUdp, serveUdp } from "./udp-echo.ts";

const POLL = { timeout: 30_000, interval: 200 } as const;

describe("from outside and to outside", requires("linux", "root", "ip", "nft", "curl"), () => {
  test("a listener leads to a service on other machines: TCP and UDP, both families", async () => {
    const machines = new EdgeMachines();
    const state = [
      ...(await machines.nodes()),
      "securityGroups:",
      "  friends: { default: deny, rules: [{ name: nine, network: 192.0.2.9/32, access: allow }] }",
      "services:",
      "  web:",
      "    listen:",
      "      - { address: 192.0.2.1:8000, node: one, servicePort: http }",
      '      - { address: "[2001:db8::1]:8000", node: one, servicePort: http }',
      "      - { address: 0.0.0.0:9000, node: one, mode: udp, servicePort: talk }",
      '      - { address: "[::]:9000", node: one, mode: udp, servicePort: talk }',
      "      - { address: 192.0.2.1:8001, node: one, servicePort: http, securityGroup: friends }",
      "    ports:",
      "      - { name: http, port: 80, targetPort: 8080 }",
      "      - { name: talk, port: 53, targetPort: 5353, protocol: UDP }",
      '    edgeIPs: [10.30.0.1, "fdff:2000::1"]',
      "    servers:",
      '      - { address: [10.18.0.66, "fc00::102"], node: two }',
    ];
    const from = machines.write(state);
    await machines.run("one", from);
    await machines.run("two", from);
    machines.serve("two", 8080);
    serveUdp(machines.workload("two"), "10.18.0.66", 5353, "two");
    serveUdp(machines.workload("two"), "fc00::102", 5353, "two");
    const { outside } = machines;
    await expect.poll(() => curl(outside, "http://192.0.2.1:8000/", 3), POLL).toBe("two 10.18.0.1");
    expect(await curl(outside, "http://[2001:db8::1]:8000/")).toBe("two fc00::1");
    expect(await curl(machines.machine("one"), "http://192.0.2.1:8000/")).toBe("two 10.18.0.1");
    expect(await askUdp(outside, "192.0.2.9", "192.0.2.1", 9000)).toBe("two");
    expect(await askUdp(outside, "2001:db8::9", "2001:db8::1", 9000)).toBe("two");

    // The security group: this one may, another one may not.
    expect(await curl(outside, "http://192.0.2.1:8001/")).toBe("two 10.18.0.1");
    machines.write(state.map((line) => line.replace("192.0.2.9/32", "192.0.2.8/32")));
    await expect.poll(() => curl(outside, "http://192.0.2.1:8001/", 1), POLL).toContain("failed");
    // Not published on the other machine, and gone with its listener.
    expect(await curl(outside, "http://192.0.2.2:8000/", 2)).toContain("failed");
    machines.write(state.filter((line) => !line.includes("192.0.2.1:8000")));
    await expect.poll(() => curl(outside, "http://192.0.2.1:8000/", 1), POLL).toContain("failed");
  });

  test("a listener of the manager's state is served by the node that it names", async () => {
    const hosts = new EdgeHosts();
    await hosts.startManager();
    const token = ["--token-file", await hosts.tokenFile()];
    await hosts.join("a", ...token);
    await hosts.join("b", ...token);
    await hosts.deploy("b", "web", 0);
    const file = join(hosts.stage("a").folder, "listener.yaml");
    writeFileSync(
      file,
      "kind: Listener\nname: web\naddress: 0.0.0.0\nport: 80\nservice: default/web\nnode: a\n",
    );
    const applied = await hosts.applyToManager(file);
    expect([applied.code, applied.stderr]).toEqual([0, ""]);
    await expect.poll(() => curl(hosts.router, "http://192.168.1.2/", 3), POLL).toMatch(/^web0 /);
  });

  test("workloads reach what egress rules let them", async () => {
    const stage = new EdgeStage();
    const node = ["--subnet", "10.18.0.64/26", "--subnet", "fc00::100/120", "--node", "node-a"];
    const server = createServer((_, response) => response.end("outside"));
    stage.outside.run(() => server.listen(80));
    onTestFinished(() => void server.close());
    const first = await stage.start(...node, "--egress-deny", `${OUTSIDE_IP.v4}/32`);
    const containerId = stage.containerId("client");
    const deployment = { containerId, appName: "client", instanceNumber: 0, portMappings: "8080" };
    expect(await stage.rest("/docker/deploy", deployment)).toMatchObject({ status: 200 });
    const client = stage.inside(containerId);
    stage.serve(client, 8080, "client");
    const reached = async () => [
      await curl(client, `http://${OUTSIDE_IP.v4}/`, 3),
      await curl(client, `http://[${OUTSIDE_IP.v6}]/`, 3),
    ];
    expect(await reached()).toEqual([expect.stringContaining("failed"), "outside"]);
    // Who is asked may answer.
    expect(await curl(stage.outside, `http://${NODE_IP.v4}:8080/`)).toMatch(/^client /);
    await first.stop();
    await stage.start(...node, "--egress-allow", "192.0.2.0/24");
    expect(await reached()).toEqual(["outside", expect.stringContaining("failed")]);
  });
});
