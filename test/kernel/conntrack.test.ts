import { execFileSync } from "node:child_process";
import { describe, expect, onTestFinished, test } from "vitest";
import { endpointSchema } from "../../src/core/model/endpoint.ts";
import type { ModelObject } from "../../src/core/model/object.ts";
import { serviceSchema } from "../../src/core/model/service.ts";
import { ADDRESS_TYPES } from "../../src/core/route/verdict.ts";
import { createConntrackReconciler } from "../../src/platform/linux/conntrack/conntrack-reconciler.ts";
import { openConntrackTable } from "../../src/platform/linux/conntrack/conntrack-table.ts";
import { NetworkNamespace } from "../../src/platform/linux/network-namespace.ts";
import type { Flow } from "../../src/wire/netlink/conntrack/flow.ts";
import { requires } from "../support/requires.ts";
import { servicesOf } from "../support/services-of.ts";

const NODE_IPS = new Set(["10.0.0.1", "fd00::1"]);
const PORT = 5353;
const UDP = { family: "v4", protocol: "UDP" } as const;

/** A namespace of its own, with routes on loopback so that any address can be sent to. */
function openNamespace() {
  const namespace = NetworkNamespace.create();
  onTestFinished(() => namespace.close());
  const run: Run = (program, args, input = "") =>
    namespace.run(() => execFileSync(program, args, { input, encoding: "utf8", stdio: "pipe" }));
  run(
    "ip",
    ["-batch", "-"],
    [
      "link set lo up",
      "addr add 10.0.0.1/32 dev lo",
      "addr add fd00::1/128 dev lo nodad",
      "route add local 10.0.0.0/8 dev lo",
      "route add local fd00::/16 dev lo",
    ].join("\n"),
  );
  // Flows are tracked only where a rule asks for it.
  translate(run, {});
  return { namespace, run };
}

type Run = (program: string, args: readonly string[], input?: string) => string;

/** Leads what is sent to an address to another one, by a rule that is written by hand. */
function translate(run: Run, to: Readonly<Record<string, string>>): void {
  for (const family of ["ip", "ip6"]) {
    const rules = Object.entries(to).filter(([ip]) => ip.includes(":") === (family === "ip6"));
    const map = rules.map(([from, by]) => `${from} : ${by}`).join(", ");
    const rule = map === "" ? "ct state new counter" : `dnat to ${family} daddr map { ${map} }`;
    run(
      "nft",
      ["-f", "-"],
      [
        `table ${family} byhand`,
        `delete table ${family} byhand`,
        `table ${family} byhand { chain out { type nat hook output priority -100; policy accept;`,
        `${rule}; }; }`,
      ].join("\n"),
    );
  }
}

/** Sends one datagram; what it is answered does not matter. */
function send(run: Run, ip: string, port = PORT): void {
  run("bash", ["-c", `echo > /dev/udp/${ip}/${port}`]);
}

/** `udp 10.96.0.10 by 10.1.0.1`, as the tool of others sees them. */
function tracked(run: Run): readonly string[] {
  const lines = ["ipv4", "ipv6"].flatMap((family) =>
    run("conntrack", ["-L", "-f", family]).trim().split("\n"),
  );
  return lines
    .filter((line) => line !== "")
    .map((line) => {
      const protocol = line.split(/\s+/)[0];
      const dst = /dst=(\S+)/.exec(line)?.[1];
      const by = [...line.matchAll(/src=(\S+)/g)][1]?.[1];
      return `${protocol} ${dst} by ${by}`;
    })
    .sort();
}

function service(name: string, ip: string, by: readonly string[]): readonly ModelObject[] {
  return [
    serviceSchema.parse({
      kind: "Service",
      name,
      clusterIPs: [ip],
      ports: ["UDP", "SCTP", "TCP"].map((protocol) => ({
        name: protocol,
        protocol,
        port: PORT,
        targetPort: PORT,
      })),
    }),
    ...by.map((address) =>
      endpointSchema.parse({
        kind: "Endpoint",
        name: `${name}-${address.replaceAll(/[.:]/g, "-")}`,
        group: name,
        addresses: [address],
      }),
    ),
  ];
}

function openReconciler(namespace: NetworkNamespace) {
  const reconciler = createConntrackReconciler({
    table: namespace.run(openConntrackTable),
    addressTypes: new Set(ADDRESS_TYPES),
    answersNodePorts: (ip) => NODE_IPS.has(ip),
  });
  onTestFinished(() => reconciler.close());
  return async (...objects: readonly (readonly ModelObject[])[]) => {
    const services = await servicesOf(objects.flat());
    return reconciler.reconcile(services, ["default/a", "default/b"]);
  };
}

const needs = requires("linux", "root", "ip", "nft", "conntrack");

describe.each([
  {
    family: "v4",
    a: "10.96.0.1",
    b: "10.96.0.2",
    ends: ["10.1.0.1", "10.1.0.2"],
    other: "10.7.0.1",
  },
  {
    family: "v6",
    a: "fd00:96::1",
    b: "fd00:96::2",
    ends: ["fd00:1::1", "fd00:1::2"],
    other: "fd00:7::1",
  },
])("tracked flows, $family", needs, ({ a, b, ends, other }) => {
  const [one = "", two = ""] = ends;

  test("of an endpoint that was replaced go; those of others and right ones stay", async () => {
    const { namespace, run } = openNamespace();
    translate(run, { [a]: one, [b]: one, [other]: one });
    for (const ip of [a, b, other]) send(run, ip);
    const all = [`udp ${a} by ${one}`, `udp ${b} by ${one}`, `udp ${other} by ${one}`].sort();
    expect(tracked(run)).toEqual(all);
    const sync = openReconciler(namespace);
    expect(await sync(service("a", a, [one]), service("b", b, [one]))).toMatchObject({
      removed: 0,
    });
    expect(tracked(run)).toEqual(all);
    translate(run, { [a]: two, [b]: one, [other]: one });
    expect(await sync(service("a", a, [two]), service("b", b, [one]))).toMatchObject({
      removed: 1,
    });
    expect(tracked(run)).toEqual([`udp ${b} by ${one}`, `udp ${other} by ${one}`].sort());
    send(run, a);
    expect(tracked(run)).toContain(`udp ${a} by ${two}`);
  });

  test("at start, those that were left from before are judged too", async () => {
    const { namespace, run } = openNamespace();
    translate(run, { [a]: one, [b]: one });
    for (const ip of [a, b]) send(run, ip);
    const sync = openReconciler(namespace);
    await sync(service("a", a, []), service("b", b, [one]));
    expect(tracked(run)).toEqual([`udp ${b} by ${one}`]);
  });

  test("that began before there were endpoints are released", async () => {
    const { namespace, run } = openNamespace();
    send(run, a);
    const sync = openReconciler(namespace);
    expect(await sync(service("a", a, []))).toMatchObject({ removed: 0 });
    translate(run, { [a]: one });
    send(run, a);
    expect(tracked(run).filter((line) => line.endsWith(`by ${a}`))).toHaveLength(1);
    await sync(service("a", a, [one]));
    expect(tracked(run)).toEqual([`udp ${a} by ${one}`]);
  });

  test("of SCTP as of UDP; TCP is left alone", async () => {
    const { namespace, run } = openNamespace();
    const insert = (protocol: string, ...more: readonly string[]) =>
      run("conntrack", [
        ...["-I", "-p", protocol, "-s", other, "-d", a, "--sport", "99", "--dport", String(PORT)],
        ...["-r", one, "-q", other, "--reply-port-src", String(PORT), "--reply-port-dst", "99"],
        ...["-t", "600", "--dst-nat", one, ...more],
      ]);
    insert("sctp", "--state", "ESTABLISHED", "--orig-vtag", "1", "--reply-vtag", "2");
    insert("tcp", "--state", "ESTABLISHED");
    expect(tracked(run)).toEqual([`sctp ${a} by ${one}`, `tcp ${a} by ${one}`]);
    const sync = openReconciler(namespace);
    await sync(service("a", a, [two]));
    expect(tracked(run)).toEqual([`tcp ${a} by ${one}`]);
  });
});

describe("the table of flows", needs, () => {
  test("many are removed at once, and those that are gone already count as none", async () => {
    const { namespace, run } = openNamespace();
    translate(run, { "10.96.0.1": "10.1.0.1" });
    run("bash", ["-c", `for p in $(seq 1 700); do echo > /dev/udp/10.96.0.1/$p; done`]);
    const table = namespace.run(openConntrackTable);
    onTestFinished(() => table.close());
    const flows: Flow[] = [];
    await table.list(
      UDP,
      () => true,
      (flow) => flows.push(flow),
    );
    expect(flows).toHaveLength(700);
    expect(await table.remove(flows.slice(0, 300))).toBe(300);
    expect(await table.remove(flows)).toBe(400);
    expect(tracked(run)).toEqual([]);
  });

  test("the kernel compares protocol, address and port", async () => {
    const { namespace, run } = openNamespace();
    for (const ip of ["10.2.0.1", "10.2.0.2"]) for (const port of [1, 2]) send(run, ip, port);
    const table = namespace.run(openConntrackTable);
    onTestFinished(() => table.close());
    const count = async (filter: Parameters<typeof table.list>[0]) => {
      let flows = 0;
      await table.list(
        filter,
        () => true,
        () => (flows += 1),
      );
      return flows;
    };
    expect(await count(UDP)).toBe(4);
    expect(await count({ ...UDP, dst: "10.2.0.1" })).toBe(2);
    expect(await count({ ...UDP, dstPort: 2 })).toBe(2);
    expect(await count({ ...UDP, dst: "10.2.0.2", dstPort: 2 })).toBe(1);
    expect(await count({ ...UDP, protocol: "SCTP" })).toBe(0);
  });
});
