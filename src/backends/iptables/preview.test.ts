import { describe, expect, test } from "vitest";
import { endpointSchema } from "../../core/model/endpoint.ts";
import { groupSchema } from "../../core/model/group.ts";
import { listenerSchema } from "../../core/model/listener.ts";
import { nodeSchema } from "../../core/model/node.ts";
import type { ModelObject } from "../../core/model/object.ts";
import { securityGroupSchema } from "../../core/model/security-group.ts";
import { type Service, serviceSchema } from "../../core/model/service.ts";
import { flagLayer, resolveOptions } from "../../core/options/resolve-options.ts";
import { GlobalStore } from "../../core/store/global-store.ts";
import { NodeWatcher } from "../../core/view/node-watcher.ts";
import type { Exec } from "../../platform/linux/exec.ts";
import type { TableState } from "../../wire/netlink/nftables/table-messages.ts";
import { NO_ONLOOKER, NO_PROSPECT } from "../no-fast-world.fixture.ts";
import { IPTABLES } from "./definition.ts";
import { previewIptables } from "./preview.ts";

const NODE = nodeSchema.parse({
  kind: "Node",
  name: "here",
  addresses: ["192.0.2.1", "192.0.2.2", "fd00::1"],
  subnets: ["10.1.0.0/24"],
});
const SVC = "KUBE-SVC-LOLE4ISW44XBNF3G";

function service(more: Partial<Service> = {}): Service {
  return serviceSchema.parse({
    kind: "Service",
    name: "web",
    clusterIPs: ["10.96.0.1"],
    ports: [{ port: 80, targetPort: 8080 }],
    ...more,
  });
}

function endpoint(name: string, more: object = {}): ModelObject {
  const base = { kind: "Endpoint", name, group: "web", addresses: [`10.1.0.${name}`] };
  return endpointSchema.parse({ ...base, ...more });
}

interface Wanted {
  readonly flags?: Readonly<Record<string, unknown>>;
  readonly objects: readonly ModelObject[];
  readonly tables?: readonly TableState[];
}

const NO_RULES: Exec = { run: async () => ({ exitCode: 0, stdout: "", stderr: "" }) };

/** What IPv4 would be told. */
async function preview({ flags = {}, objects, tables = [] }: Wanted): Promise<string> {
  const store = new GlobalStore();
  store.transact("test", (transaction) => transaction.replaceAll([NODE, ...objects]));
  store.markSynced("test");
  const watcher = new NodeWatcher(store, "here", IPTABLES.sets);
  const { values } = resolveOptions(IPTABLES.options, [flagLayer(flags)]);
  if (values === undefined) throw new Error("options");
  const none = () => undefined;
  const warn = (_: object, text: string): void => {
    throw new Error(`a preview does nothing: ${text}`);
  };
  const log = { debug: none, info: none, warn, error: none };
  const context = { nodeName: "here", log, stdout: process.stdout };
  const world = {
    exec: NO_RULES,
    sysctl: { read: async () => "0" },
    probeDirect: async () => undefined,
    probeFast: async () => NO_PROSPECT,
    nftTables: { list: async () => tables },
    findOnlooker: NO_ONLOOKER,
  };
  const { script: text } = await previewIptables(values, context, watcher.poll() ?? [], world);
  return text.slice(0, text.indexOf("# ip6tables"));
}

/** The rules of chains whose names begin so, without comments, by table. */
async function rulesOf(table: string, chain: string, wanted: Wanted): Promise<readonly string[]> {
  const text = await preview(wanted);
  const part = text.slice(
    text.indexOf(`*${table}`),
    text.indexOf("COMMIT", text.indexOf(`*${table}`)),
  );
  return part
    .split("\n")
    .filter((line) => line.startsWith(`-A ${chain}`))
    .map((line) => line.replace(/-m comment --comment "[^"]*" /, ""));
}

test("tables that are dormant and ours would be woken", async () => {
  const tables: readonly TableState[] = [
    { family: "ip", name: "filter", flags: 0 },
    { family: "ip", name: "nat", flags: 1 },
    { family: "ip", name: "mangle", flags: 1 },
    { family: "ip6", name: "nat", flags: 1 },
    { family: "inet", name: "nat", flags: 1 },
  ];
  const text = await preview({ objects: [service()], tables });
  expect(text.match(/^# nft .*$/gm)).toEqual(["# nft add table ip nat (which is dormant)"]);
  const legacy = await preview({
    flags: { iptablesMode: "legacy" },
    objects: [service()],
    tables,
  });
  expect(legacy).not.toContain("# nft");
});

test("the whole of a service, as iptables-restore is given it", async () => {
  const text = await preview({ objects: [service(), endpoint("5")] });
  expect(text.split("\n").filter((line) => !line.startsWith("-I"))).toMatchInlineSnapshot(`
    [
      "# iptables-nft-restore -w 30 --noflush",
      "*filter",
      ":KUBE-PROXY-CANARY - [0:0]",
      ":KUBE-FORWARD - [0:0]",
      ":KUBE-PROXY-INPUT - [0:0]",
      ":KUBE-PROXY-OUTPUT - [0:0]",
      ":KUBE-SERVICES - [0:0]",
      ":KUBE-EXTERNAL-SERVICES - [0:0]",
      ":KUBE-NODEPORTS - [0:0]",
      ":KUBE-PROXY-FIREWALL - [0:0]",
      ":KUBE-CLUSTER-IPS - [0:0]",
      ":KUBE-CIP-W6N74VVXF7X37KSH - [0:0]",
      "-A KUBE-FORWARD -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT",
      "-A KUBE-FORWARD -m conntrack --ctstate INVALID -j DROP",
      "-A KUBE-FORWARD -m conntrack --ctstate NEW -m comment --comment "kubernetes load balancer firewall" -j KUBE-PROXY-FIREWALL",
      "-A KUBE-FORWARD -m mark --mark 0x4000/0x4000 -m comment --comment "kubernetes forwarding rules" -j ACCEPT",
      "-A KUBE-PROXY-INPUT -m conntrack --ctstate NEW -m comment --comment "kubernetes load balancer firewall" -j KUBE-PROXY-FIREWALL",
      "-A KUBE-PROXY-INPUT -m comment --comment "kubernetes health check service ports" -j KUBE-NODEPORTS",
      "-A KUBE-PROXY-INPUT -m conntrack --ctstate NEW -m comment --comment "kubernetes externally-visible service portals" -j KUBE-EXTERNAL-SERVICES",
      "-A KUBE-PROXY-OUTPUT -m conntrack --ctstate NEW -m comment --comment "kubernetes load balancer firewall" -j KUBE-PROXY-FIREWALL",
      "-A KUBE-PROXY-OUTPUT -m conntrack --ctstate NEW -m comment --comment "kubernetes service portals" -j KUBE-SERVICES",
      "-A KUBE-PROXY-OUTPUT -m conntrack --ctstate NEW -m comment --comment "kubernetes externally-visible service portals" -j KUBE-EXTERNAL-SERVICES",
      "-A KUBE-SERVICES -j KUBE-CLUSTER-IPS",
      "-A KUBE-CLUSTER-IPS -d 10.96.0.0/24 -j KUBE-CIP-W6N74VVXF7X37KSH",
      "-A KUBE-CIP-W6N74VVXF7X37KSH -d 10.96.0.1/32 -p tcp -m comment --comment "default/web has no such port" -j REJECT --reject-with tcp-reset",
      "-A KUBE-CIP-W6N74VVXF7X37KSH -d 10.96.0.1/32 -m comment --comment "default/web has no such port" -j REJECT --reject-with icmp-port-unreachable",
      "COMMIT",
      "",
      "*nat",
      ":KUBE-PROXY-CANARY - [0:0]",
      ":KUBE-MARK-MASQ - [0:0]",
      ":KUBE-POSTROUTING - [0:0]",
      ":KUBE-SVC-LOLE4ISW44XBNF3G - [0:0]",
      ":KUBE-SEP-WTWFV4FIYEMLN7RK - [0:0]",
      ":KUBE-SERVICES - [0:0]",
      ":KUBE-NODEPORTS - [0:0]",
      ":KUBE-LISTENERS - [0:0]",
      ":KUBE-LISTENERS-ANY - [0:0]",
      "-A KUBE-MARK-MASQ -j MARK --set-xmark 0x4000/0x4000",
      "-A KUBE-POSTROUTING -m mark ! --mark 0x4000/0x4000 -j RETURN",
      "-A KUBE-POSTROUTING -j MARK --set-xmark 0x4000/0x0",
      "-A KUBE-POSTROUTING -m comment --comment "kubernetes service traffic requiring SNAT" -j MASQUERADE --random-fully",
      "-A KUBE-SVC-LOLE4ISW44XBNF3G -m comment --comment "default/web -> 10.1.0.5:8080" -j KUBE-SEP-WTWFV4FIYEMLN7RK",
      "-A KUBE-SEP-WTWFV4FIYEMLN7RK -s 10.1.0.5/32 -m comment --comment "default/web" -j KUBE-MARK-MASQ",
      "-A KUBE-SEP-WTWFV4FIYEMLN7RK -p tcp -m comment --comment "default/web" -j DNAT --to-destination 10.1.0.5:8080",
      "-A KUBE-SERVICES -d 10.96.0.1/32 -p tcp -m tcp --dport 80 -m comment --comment "default/web cluster IP" -j KUBE-SVC-LOLE4ISW44XBNF3G",
      "-A KUBE-SERVICES -d 192.0.2.1/32 -m comment --comment "kubernetes service nodeports" -j KUBE-NODEPORTS",
      "-A KUBE-SERVICES -j KUBE-LISTENERS",
      "-A KUBE-SERVICES -j KUBE-LISTENERS-ANY",
      "COMMIT",
      "",
      "",
    ]
  `);
});

test("who calls this node is led over the health-check ports; answers to its own calls are not", async () => {
  const wanted = { objects: [service()] };
  const hooks = (await preview(wanted)).split("\n").filter((line) => /^-I (IN|OUT)PUT/.test(line));
  expect(hooks.map((line) => line.replace(/-m comment --comment "[^"]*" /, ""))).toEqual([
    "-I INPUT 1 -m conntrack --ctdir ORIGINAL -j KUBE-PROXY-INPUT",
    "-I OUTPUT 1 -m conntrack --ctstate NEW -j KUBE-PROXY-OUTPUT",
    "-I OUTPUT 1 -j KUBE-SERVICES",
  ]);
  expect(await rulesOf("filter", "KUBE-PROXY-INPUT", wanted)).toEqual([
    "-A KUBE-PROXY-INPUT -m conntrack --ctstate NEW -j KUBE-PROXY-FIREWALL",
    "-A KUBE-PROXY-INPUT -j KUBE-NODEPORTS",
    "-A KUBE-PROXY-INPUT -m conntrack --ctstate NEW -j KUBE-EXTERNAL-SERVICES",
  ]);
});

describe("choice among endpoints", () => {
  test("each gets the same share", async () => {
    const objects = [service(), endpoint("5"), endpoint("6"), endpoint("7")];
    const rules = await rulesOf("nat", SVC, { objects });
    expect(rules.map((rule) => /--probability (\S+)/.exec(rule)?.[1])).toEqual([
      "0.33333333349",
      "0.50000000000",
      undefined,
    ]);
  });

  test("shares follow weights, and weight 0 gets none", async () => {
    const objects = [
      service(),
      endpoint("5", { weight: 1 }),
      endpoint("6", { weight: 0 }),
      endpoint("7", { weight: 3 }),
    ];
    const rules = await rulesOf("nat", SVC, { objects });
    expect(rules.map((rule) => /--probability (\S+)/.exec(rule)?.[1])).toEqual([
      "0.25000000000",
      undefined,
    ]);
  });

  test("groups share by their weight; a server in two of them has both shares", async () => {
    const ref = (group: string, weight: number) => ({
      group: `default/${group}`,
      weight,
      hints: { host: "", port: 0, path: "" },
    });
    const objects = [
      service({ groups: [ref("blue", 1), ref("green", 3)] }),
      groupSchema.parse({ kind: "Group", name: "blue" }),
      groupSchema.parse({ kind: "Group", name: "green" }),
      endpoint("5", { group: "blue" }),
      endpoint("6", { group: "blue" }),
      endpoint("6", { group: "green" }),
    ];
    const rules = await rulesOf("nat", SVC, { objects });
    expect(rules.map((rule) => /--probability (\S+)/.exec(rule)?.[1])).toEqual([
      "0.12500000000",
      undefined,
    ]);
  });

  test("who has only a name is left out", async () => {
    const nameless = endpoint("8", { addresses: [], hostName: "a.example" });
    const rules = await rulesOf("nat", SVC, { objects: [service(), endpoint("5"), nameless] });
    expect(rules).toHaveLength(1);
  });

  test("affinity asks for each endpoint's clients before it chooses", async () => {
    const objects = [service({ affinitySeconds: 60 }), endpoint("5"), endpoint("6")];
    const rules = await rulesOf("nat", "KUBE-S", { objects });
    const recent = rules.filter((rule) => rule.includes("-m recent"));
    expect(recent.filter((rule) => rule.includes("--rcheck --seconds 60 --reap"))).toHaveLength(2);
    expect(recent.filter((rule) => rule.includes("--set"))).toHaveLength(2);
  });
});

describe("refusals", () => {
  test("nobody anywhere is rejected, at each address", async () => {
    const more = {
      externalIPs: ["203.0.113.1"],
      ports: [{ port: 80, nodePort: 30_080, targetPort: 8080 }],
    };
    const objects = [serviceSchema.parse({ ...service(), ...more })];
    expect(await rulesOf("filter", "KUBE-SERVICES -d", { objects })).toEqual([
      "-A KUBE-SERVICES -d 10.96.0.1/32 -p tcp -m tcp --dport 80 -j REJECT --reject-with tcp-reset",
    ]);
    expect(await rulesOf("filter", "KUBE-EXTERNAL-SERVICES", { objects })).toEqual([
      "-A KUBE-EXTERNAL-SERVICES -d 203.0.113.1/32 -p tcp -m tcp --dport 80 -j REJECT --reject-with tcp-reset",
      "-A KUBE-EXTERNAL-SERVICES -d 192.0.2.1/32 -p tcp -m tcp --dport 30080 -j REJECT --reject-with tcp-reset",
    ]);
    expect(await rulesOf("nat", "KUBE-EXT", { objects })).toEqual([]);
  });

  test("nobody here is dropped where the policy is Local", async () => {
    const more = { externalIPs: ["203.0.113.1"], externalTrafficPolicy: "Local" } as const;
    const objects = [service(more), endpoint("5", { node: "there" })];
    expect(await rulesOf("filter", "KUBE-EXTERNAL-SERVICES", { objects })).toEqual([
      "-A KUBE-EXTERNAL-SERVICES -d 203.0.113.1/32 -p tcp -m tcp --dport 80 -j DROP",
    ]);
  });

  test("who may use all endpoints, none of which is fit, is told; others hear nothing", async () => {
    const more = { externalIPs: ["203.0.113.1"], externalTrafficPolicy: "Local" } as const;
    const objects = [service(more), endpoint("5", { node: "there", weight: 0 })];
    const flags = { detectLocalMode: "node-cidr" };
    expect(await rulesOf("filter", "KUBE-EXTERNAL-SERVICES", { flags, objects })).toEqual([
      "-A KUBE-EXTERNAL-SERVICES -s 10.1.0.0/24 -d 203.0.113.1/32 -p tcp -m tcp --dport 80 -j REJECT --reject-with tcp-reset",
      "-A KUBE-EXTERNAL-SERVICES -d 203.0.113.1/32 -p tcp -m addrtype --src-type LOCAL -m tcp --dport 80 -j REJECT --reject-with tcp-reset",
      "-A KUBE-EXTERNAL-SERVICES -d 203.0.113.1/32 -p tcp -m tcp --dport 80 -j DROP",
    ]);
  });

  test("who is not let in is dropped, who is let in without endpoints is told", async () => {
    const more = { loadBalancerIPs: ["203.0.113.2"], sourceRanges: ["198.51.100.0/24"] };
    const objects = [service(more)];
    expect(await rulesOf("filter", "KUBE-PROXY-FIREWALL", { objects })).toEqual([
      "-A KUBE-PROXY-FIREWALL -s 198.51.100.0/24 -d 203.0.113.2/32 -p tcp -m tcp --dport 80 -j RETURN",
      "-A KUBE-PROXY-FIREWALL -d 203.0.113.2/32 -p tcp -m tcp --dport 80 -j DROP",
    ]);
    const served = { objects: [...objects, endpoint("5")] };
    expect(await rulesOf("filter", "KUBE-PROXY-FIREWALL", served)).toEqual([
      "-A KUBE-PROXY-FIREWALL -d 203.0.113.2/32 -p tcp -m tcp --dport 80 -j DROP",
    ]);
    expect(await rulesOf("nat", "KUBE-FW", served)).toEqual([
      "-A KUBE-FW-LOLE4ISW44XBNF3G -s 198.51.100.0/24 -j KUBE-EXT-LOLE4ISW44XBNF3G",
    ]);
  });

  test("who is bound to endpoints that are all unfit does not go on to those of this node", async () => {
    const objects = [
      service({ externalIPs: ["203.0.113.1"], externalTrafficPolicy: "Local" }),
      endpoint("5", { node: "there", weight: 0 }),
      endpoint("6", { node: "here", ready: false, serving: true, terminating: true }),
    ];
    const flags = { detectLocalMode: "node-cidr" };
    const [EXT, SVL] = [SVC.replace("SVC", "EXT"), SVC.replace("SVC", "SVL")];
    expect(await rulesOf("nat", EXT, { flags, objects })).toEqual([
      `-A ${EXT} -s 10.1.0.0/24 -j RETURN`,
      `-A ${EXT} -m addrtype --src-type LOCAL -j RETURN`,
      `-A ${EXT} -j ${SVL}`,
    ]);
  });

  test("this node itself is let in to an address by that address, and by no other one", async () => {
    const more = {
      loadBalancerIPs: ["203.0.113.2", "203.0.113.3"],
      sourceRanges: ["192.0.2.0/24"],
    };
    const rules = await rulesOf("filter", "KUBE-PROXY-FIREWALL", { objects: [service(more)] });
    expect(rules.map((rule) => rule.replace(" -p tcp -m tcp --dport 80", ""))).toEqual([
      "-A KUBE-PROXY-FIREWALL -s 192.0.2.0/24 -d 203.0.113.2/32 -j RETURN",
      "-A KUBE-PROXY-FIREWALL -s 203.0.113.2/32 -d 203.0.113.2/32 -j RETURN",
      "-A KUBE-PROXY-FIREWALL -d 203.0.113.2/32 -j DROP",
      "-A KUBE-PROXY-FIREWALL -s 192.0.2.0/24 -d 203.0.113.3/32 -j RETURN",
      "-A KUBE-PROXY-FIREWALL -s 203.0.113.3/32 -d 203.0.113.3/32 -j RETURN",
      "-A KUBE-PROXY-FIREWALL -d 203.0.113.3/32 -j DROP",
    ]);
  });
});

describe("masquerading calls of a cluster IP", () => {
  const objects = [service(), endpoint("5")];
  const mark = async (flags: Wanted["flags"] = {}) =>
    (await rulesOf("nat", SVC, { flags, objects })).filter((rule) => rule.includes("MARK"));

  test("is not done where workloads can not be told", async () => {
    expect(await mark()).toEqual([]);
  });

  test("is done for who is no workload", async () => {
    const call = "-d 10.96.0.1/32 -p tcp -m tcp --dport 80";
    expect(await mark({ clusterCidr: "10.1.0.0/16" })).toEqual([
      `-A ${SVC} ! -s 10.1.0.0/16 ${call} -j KUBE-MARK-MASQ`,
    ]);
    expect(await mark({ masqueradeAll: true })).toEqual([`-A ${SVC} ${call} -j KUBE-MARK-MASQ`]);
    expect(await mark({ detectLocalMode: "interface", podInterfaceNamePrefix: "cali" })).toEqual([
      `-A ${SVC} -d 10.96.0.1/32 ! -i cali+ -p tcp -m tcp --dport 80 -j KUBE-MARK-MASQ`,
    ]);
  });

  test("asks one network after the other where there are several", async () => {
    const flags = { clusterCidr: "10.1.0.0/16,10.2.0.0/16" };
    expect(await mark(flags)).toEqual([
      `-A ${SVC} -d 10.96.0.1/32 -p tcp -m tcp --dport 80 -j KUBE-MARK-NOT-LOCAL`,
    ]);
    expect(await rulesOf("nat", "KUBE-MARK-NOT-LOCAL", { flags, objects })).toEqual([
      "-A KUBE-MARK-NOT-LOCAL -s 10.1.0.0/16 -j RETURN",
      "-A KUBE-MARK-NOT-LOCAL -s 10.2.0.0/16 -j RETURN",
      "-A KUBE-MARK-NOT-LOCAL -j KUBE-MARK-MASQ",
    ]);
  });

  test("uses the bit that it is told", async () => {
    const flags = { iptablesMasqueradeBit: 7 };
    expect(await rulesOf("nat", "KUBE-MARK-MASQ", { flags, objects })).toEqual([
      "-A KUBE-MARK-MASQ -j MARK --set-xmark 0x80/0x80",
    ]);
  });
});

test("an address of several kinds is a cluster IP first, then an external IP", async () => {
  const more = {
    externalIPs: ["10.96.0.1", "203.0.113.1"],
    loadBalancerIPs: ["203.0.113.1", "203.0.113.2", "10.96.0.1"],
    sourceRanges: ["198.51.100.0/24"],
  };
  const objects = [service(more), endpoint("5")];
  const call = "-p tcp -m tcp --dport 80";
  const rules = await rulesOf("nat", "KUBE-SERVICES", { objects });
  expect(rules.filter((rule) => rule.includes(call))).toEqual([
    `-A KUBE-SERVICES -d 10.96.0.1/32 ${call} -j ${SVC}`,
    `-A KUBE-SERVICES -d 203.0.113.1/32 ${call} -j ${SVC.replace("SVC", "EXT")}`,
    `-A KUBE-SERVICES -d 203.0.113.2/32 ${call} -j ${SVC.replace("SVC", "FW")}`,
  ]);
  expect(await rulesOf("filter", "KUBE-PROXY-FIREWALL", { objects })).toEqual([
    `-A KUBE-PROXY-FIREWALL -d 203.0.113.2/32 ${call} -j DROP`,
  ]);
});

test.each([
  ["primary", ["192.0.2.1/32"]],
  ["all", ["192.0.2.1/32", "192.0.2.2/32"]],
  ["localhost", ["127.0.0.0/8"]],
  ["192.0.2.2/32,127.0.0.0/8", ["192.0.2.2/32", "127.0.0.0/8"]],
])("node ports on %s", async (nodeportAddresses, networks) => {
  const rules = await rulesOf("nat", "KUBE-SERVICES", {
    flags: { nodeportAddresses },
    objects: [],
  });
  const jumps = rules.filter((rule) => rule.endsWith("-j KUBE-NODEPORTS"));
  expect(jumps).toEqual(
    networks.map((network) => `-A KUBE-SERVICES -d ${network} -j KUBE-NODEPORTS`),
  );
});

test("listeners lead to a service for those that their security group lets in", async () => {
  const objects = [
    service(),
    endpoint("5"),
    listenerSchema.parse({
      kind: "Listener",
      name: "front",
      address: "192.0.2.1",
      port: 8888,
      service: "default/web",
      securityGroup: "default/guard",
    }),
    securityGroupSchema.parse({
      kind: "SecurityGroup",
      name: "guard",
      defaultAccess: "deny",
      rules: [
        { name: "many", network: "198.51.0.0/16", access: "allow" },
        { name: "few", network: "198.51.100.0/24", access: "deny" },
        { name: "udp", network: "10.0.0.0/8", protocol: "UDP", access: "allow" },
      ],
    }),
  ];
  const [rule] = await rulesOf("nat", "KUBE-LISTENERS", { objects });
  const chain = rule?.split(" ").at(-1) ?? "";
  expect(rule).toBe(`-A KUBE-LISTENERS -d 192.0.2.1/32 -p tcp -m tcp --dport 8888 -j ${chain}`);
  expect(await rulesOf("nat", chain, { objects })).toEqual([
    `-A ${chain} -s 198.51.100.0/24 -j RETURN`,
    `-A ${chain} -s 198.51.0.0/16 -j KUBE-EXT-LOLE4ISW44XBNF3G`,
  ]);
});

test("rules of large clusters carry no comments", async () => {
  const many = Array.from({ length: 1001 }, (_, index) =>
    endpoint(`${index}`, { addresses: [`10.2.${index >> 8}.${index & 255}`] }),
  );
  const text = await preview({ objects: [service(), ...many] });
  expect(text).not.toContain("default/web");
});

test("very many services are printed as text, too", async () => {
  const many = Array.from({ length: 600 }, (_, index) =>
    service({ name: `many-${index}`, clusterIPs: [`10.97.${index >> 8}.${index & 255}`] }),
  );
  const text = await preview({ objects: [service(), endpoint("1"), ...many] });
  expect(text).toContain("*nat\n");
  expect(text).toContain("-d 10.97.2.87/32 ");
  expect(text.match(/^COMMIT$/gm)?.length).toBeGreaterThan(1);
});

test("in large clusters the rules of an address stand in chains for its networks", async () => {
  const many = Array.from({ length: 1001 }, (_, index) =>
    endpoint(`${index}`, { addresses: [`10.2.${index >> 8}.${index & 255}`] }),
  );
  const near = service({ name: "near", clusterIPs: ["10.96.0.2"], externalIPs: ["203.0.113.9"] });
  const far = service({ name: "far", clusterIPs: ["10.96.1.1"] });
  const objects = [service(), near, far, ...many];
  const top = await rulesOf("nat", "KUBE-SERVICES", { objects });
  const chainIn = (rules: readonly string[], network: string): string =>
    rules
      .find((rule) => rule.includes(` -d ${network} -j KUBE-`))
      ?.split(" ")
      .at(-1) ?? "";
  const larger = chainIn(top, "10.96.0.0/20");
  const smaller = chainIn(await rulesOf("nat", larger, { objects }), "10.96.0.0/24");
  expect(await rulesOf("nat", smaller, { objects })).toEqual([
    expect.stringMatching(/-d 10\.96\.0\.1\/32 .*-j KUBE-SVC-[A-Z]/),
  ]);
  expect(top.at(-1)).toContain("KUBE-LISTENERS-ANY");
  // Those without endpoints are refused, by their networks too.
  const refused = await rulesOf("filter", "KUBE-SERVICES", { objects });
  const refusing = chainIn(refused, "10.96.0.0/20");
  const networks = (await rulesOf("filter", refusing, { objects })).map(
    (rule) => rule.split(" ")[3],
  );
  expect(networks.sort()).toEqual(["10.96.0.0/24", "10.96.1.0/24"]);
});
