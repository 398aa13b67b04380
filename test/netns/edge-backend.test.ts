import { describe, expect, test } from "vitest";
import { requires } from "../support/requires.ts";
import { curl } from "./curl.ts";
import { EdgeMachines, type MachineName } from "./edge-machines.ts";

const SERVICE = [
  "services:",
  "  web:",
  "    ports: { name: http, port: 80, targetPort: 8080 }",
  "    edgeIPs:",
  "      - 10.30.0.1",
  '      - "fdff:2000::1"',
  "      - { address: 10.30.0.2, policy: closest }",
  "      - { address: 10.30.0.3, policy: instance, instance: 1 }",
  "    servers:",
  '      - { address: [10.18.0.2, "fc00::2"], node: one, instance: 0 }',
  '      - { address: [10.18.0.66, "fc00::102"], node: two, instance: 1 }',
];

/** Both machines run with the service, whose instances answer with the name of their machine. */
async function openBoth() {
  const machines = new EdgeMachines();
  const from = machines.write([...(await machines.nodes()), ...SERVICE]);
  const one = await machines.run("one", from);
  const two = await machines.run("two", from);
  for (const name of ["one", "two"] as const) machines.serve(name, 8080);
  return { machines, from, one, two };
}

/** Who answers a workload's calls, in order of their names. */
async function names(
  machines: EdgeMachines,
  name: MachineName,
  url: string,
): Promise<readonly string[]> {
  const answers: string[] = [];
  for (let call = 0; call < 4; call += 1) {
    answers.push((await curl(machines.workload(name), url)).split(" ")[0] ?? "");
  }
  return answers.sort();
}

describe("run --to edge", requires("linux", "root", "ip", "nft", "curl"), () => {
  test("leads edge addresses of a state file to instances on two machines, by policy", async () => {
    const { machines, from } = await openBoth();
    for (const url of ["http://10.30.0.1/", "http://[fdff:2000::1]/"]) {
      expect(await names(machines, "one", url)).toEqual(["one", "one", "two", "two"]);
    }
    expect(await names(machines, "one", "http://10.30.0.2/")).toEqual(Array(4).fill("one"));
    expect(await names(machines, "two", "http://10.30.0.2/")).toEqual(Array(4).fill("two"));
    // A workload elsewhere is seen by its own address; the machine itself by that of its network.
    expect(await curl(machines.workload("one"), "http://10.30.0.3/")).toBe("two 10.18.0.2");
    expect(await curl(machines.machine("one"), "http://10.30.0.3/")).toBe("two 10.18.0.1");
    expect(await curl(machines.workload("one"), "http://10.30.0.1:81/")).toContain("failed");
    machines.exec(machines.outside, "ip", ["route", "add", "10.30.0.0/16", "via", "192.0.2.1"]);
    expect(await curl(machines.outside, "http://10.30.0.3/")).toContain("failed");

    const where = ["--from", from, "--node", "one", "--src", "10.18.0.2"];
    const live = ["--dst", "10.30.0.3:80", "--backend", "edge", "--live"];
    const explained = await machines.cli("one", "explain", ...where, ...live);
    expect([explained.code, explained.stdout]).toEqual([
      0,
      expect.stringMatching(/\* instance 1 at 10\.18\.0\.66:8080, on two, .* ms away/),
    ]);
    const args = ["--from", from, "--node", "one", "--to", "edge", "--dry-run"];
    const dry = await machines.cli(
      "one",
      "run",
      ...args,
      "--tunnel-folder",
      machines.tunnel("one"),
    );
    expect(dry.stdout).toContain(
      "node two at 192.0.2.2:50103, secure: 10.18.0.64/26 fc00::100/120",
    );
    expect(dry.stdout).toContain("add table ip portolan_edge");
  });

  test("follows the state, and goes on after it was killed or its work was undone", async () => {
    const { machines, from, one } = await openBoth();
    const client = machines.workload("one");
    expect(await curl(client, "http://10.30.0.3/")).toBe("two 10.18.0.2");

    // Instance 1 goes: its address means nobody, and all others the one that is left.
    machines.write([...(await machines.nodes()), ...SERVICE.slice(0, -1)]);
    await expect.poll(() => curl(client, "http://10.30.0.3/", 2), POLL).toContain("failed");
    expect(await names(machines, "two", "http://10.30.0.1/")).toEqual(Array(4).fill("one"));
    machines.write([...(await machines.nodes()), ...SERVICE]);
    await expect.poll(() => curl(client, "http://10.30.0.3/", 2), POLL).toBe("two 10.18.0.2");

    machines.exec(machines.machine("one"), "ip", ["link", "del", "portolan-tun"]);
    machines.exec(machines.machine("one"), "nft", ["flush", "ruleset"]);
    await expect.poll(() => curl(client, "http://10.30.0.3/", 2), POLL).toBe("two 10.18.0.2");
    await expect
      .poll(() => machines.exec(machines.machine("one"), "nft", ["list", "ruleset"]), POLL)
      .toContain("portolan_edge");

    await one.stop("SIGKILL");
    // Without the tunnel nothing leaves by another way.
    expect(await curl(client, "http://10.30.0.3/", 2)).toContain("failed");
    const again = await machines.run("one", from);
    expect(await curl(client, "http://10.30.0.3/")).toBe("two 10.18.0.2");
    expect(
      machines.exec(machines.machine("one"), "nft", ["list", "tables"]).split("\n").length,
    ).toBe(3);

    await again.stop();
    const { code, stdout } = await machines.cli("one", "cleanup", "--to", "edge");
    expect([code, stdout]).toEqual([0, "edge: nothing is left\n"]);
    const left = ["route", "-6 route", "link"].map((what) =>
      machines.exec(machines.machine("one"), "ip", what.split(" ")),
    );
    expect(left.join("\n")).not.toMatch(/10\.30\.|fdff:|portolan/);
    expect(machines.exec(machines.machine("one"), "nft", ["list", "ruleset"])).toBe("");
  });

  test("beside nftables, cluster IPs and node ports lead through the tunnel as well", async () => {
    const machines = new EdgeMachines();
    const from = machines.write([
      ...(await machines.nodes()),
      "services:",
      "  web:",
      "    clusterIPs: [10.96.0.10, fd00:96::10]",
      "    ports: { name: http, port: 80, targetPort: 8080, nodePort: 30080 }",
      "    servers:",
      '      - { address: [10.18.0.66, "fc00::102"], node: two }',
    ]);
    const cidrs = ["--cluster-cidr", "10.18.0.0/16,fc00::/16"];
    await machines.run("one", from, "--to", "nftables", ...cidrs);
    await machines.run("two", from);
    machines.serve("two", 8080);
    for (const url of ["http://10.96.0.10/", "http://[fd00:96::10]/"]) {
      await expect
        .poll(() => curl(machines.workload("one"), url, 2), POLL)
        .toMatch(/^two (10\.18\.0\.2|fc00::2)$/);
    }
    expect(await curl(machines.outside, "http://192.0.2.1:30080/")).toBe("two 10.18.0.1");
    expect(await curl(machines.outside, "http://[2001:db8::1]:30080/")).toBe("two fc00::1");
  });

  test("says what the state lacks, and what it can not serve", async () => {
    const machines = new EdgeMachines();
    const from = machines.write(SERVICE);
    const process = machines.start("one", "run", "--from", from, "--to", "edge");
    await process.waitFor(/Node one: missing; expected a Node with the networks/, "stderr");
    const [head = "", first = ""] = await machines.nodes();
    machines.write([head, first.replace(/publicKey: "[^"]*"/, 'publicKey: ""'), ...SERVICE]);
    await process.waitFor(/its own public key is/, "stderr");
    await process.waitFor(
      /endpoints that are not in the subnets of a node with a tunnel are left out: default\/web/,
      "stderr",
    );
  });
});

const POLL = { timeout: 30_000, interval: 200 } as const;
