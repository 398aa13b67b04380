import { describe, expect, test } from "vitest";
import { KUBE_PROXY_JUMPS, restorableJump } from "../../src/backends/kube-proxy-jumps.fixture.ts";
import { endpointSchema } from "../../src/core/model/endpoint.ts";
import { listenerSchema } from "../../src/core/model/listener.ts";
import { nodeSchema } from "../../src/core/model/node.ts";
import type { ModelObject } from "../../src/core/model/object.ts";
import { securityGroupSchema } from "../../src/core/model/security-group.ts";
import { serviceSchema } from "../../src/core/model/service.ts";
import { SCENARIOS } from "../../src/core/route/scenarios.ts";
import { IPTABLES_MODES } from "../../src/platform/linux/iptables/iptables-tool.ts";
import { LARGE_CLUSTER } from "../netns/large-cluster.ts";
import { requires } from "../support/requires.ts";
import { IptablesMachine, NODE } from "./iptables-machine.ts";

const node = nodeSchema.parse({
  kind: "Node",
  name: NODE,
  addresses: ["192.0.2.1", "fd00:1::1"],
});

const web = serviceSchema.parse({
  kind: "Service",
  name: "web",
  type: "LoadBalancer",
  clusterIPs: ["10.96.0.10", "fd00:96::10"],
  externalIPs: ["203.0.113.10"],
  loadBalancerIPs: ["203.0.113.20", "2001:db8::20"],
  ports: [
    { name: "http", port: 80, nodePort: 30_080, targetPort: 8080 },
    { name: "dns", protocol: "UDP", port: 53, nodePort: 30_053, targetPort: 5353 },
  ],
  externalTrafficPolicy: "Local",
  affinitySeconds: 600,
  sourceRanges: ["192.0.2.0/24", "fd00:1::/64"],
  healthCheckNodePort: 32_000,
});

const empty = serviceSchema.parse({
  kind: "Service",
  name: "empty",
  clusterIPs: ["10.96.7.1", "fd00:96::7:1"],
  ports: [{ port: 443, nodePort: 30_443, targetPort: 443 }],
});

const listener = listenerSchema.parse({
  kind: "Listener",
  name: "front",
  address: "0.0.0.0",
  port: 8888,
  service: "default/web",
  servicePort: "http",
});

function endpoint(name: string, host: number, weight = 1): ModelObject {
  return endpointSchema.parse({
    kind: "Endpoint",
    name,
    group: "web",
    addresses: [`10.244.1.${host}`, `fd00:244::${host}`],
    node: host === 2 ? NODE : "node-b",
    weight,
  });
}

const STATE: readonly ModelObject[] = [
  node,
  web,
  empty,
  listener,
  endpoint("a", 2),
  endpoint("b", 3, 3),
  endpoint("c", 4),
];

const GUARD_COMMENT = [
  "-m",
  "comment",
  "--comment",
  "portolan: block incoming localnet connections",
];

/** More than the tool of nft is told at once. */
const MANY_SERVICES = 1001;
const MANY: readonly ModelObject[] = Array.from({ length: MANY_SERVICES }, (_, index) => {
  const name = `many-${index}`;
  const low = `${index >> 8}.${index & 255}`;
  return [
    serviceSchema.parse({
      kind: "Service",
      name,
      clusterIPs: [`10.97.${low}`],
      ports: [{ port: 80, targetPort: 8080 }],
    }),
    endpointSchema.parse({ kind: "Endpoint", name, group: name, addresses: [`10.245.${low}`] }),
  ];
}).flat();

describe(
  "tables of iptables-nft that are dormant",
  requires("linux", "root", "ip", "iptables", "nft"),
  () => {
    const TABLES = ["ip nat", "ip filter", "ip6 nat", "ip6 filter"];
    const sleep = (machine: IptablesMachine, tables: readonly string[] = TABLES): void => {
      for (const table of tables) machine.run("nft", [`add table ${table} { flags dormant; }`]);
    };
    const sleeping = (machine: IptablesMachine): readonly string[] =>
      [...TABLES, "ip mangle"].filter((table) =>
        machine.run("nft", [`list table ${table}`]).includes("flags dormant"),
      );
    const startWith = async (objects: readonly ModelObject[]) => {
      const machine = new IptablesMachine("nft");
      machine.iptables("-t", "mangle", "-A", "OUTPUT", "-j", "ACCEPT");
      sleep(machine, ["ip mangle"]);
      const running = await machine.start();
      await running.apply(objects);
      // Rules as the tools print them are known from here on.
      await running.passSyncPeriod();
      running.takeScripts();
      return { machine, running };
    };

    test("are awake after the sync period, once and told; those of others stay so", async () => {
      const { machine, running } = await startWith(STATE);
      sleep(machine);
      expect(sleeping(machine)).toEqual([...TABLES, "ip mangle"]);
      await running.passSyncPeriod();
      expect(sleeping(machine)).toEqual(["ip mangle"]);
      const told = "rules were altered by others, and put right";
      expect(running.warnings.splice(0)).toEqual([told, told]);
      await running.passSyncPeriod();
      expect(running.warnings).toEqual([]);
      expect(running.takeScripts()).toEqual([]);
    });

    test("are awake after the sync period that follows a change", async () => {
      const { machine, running } = await startWith(STATE);
      sleep(machine, ["ip nat"]);
      await running.apply(STATE.filter((object) => object !== web));
      await running.passSyncPeriod();
      expect(sleeping(machine)).toEqual(["ip mangle"]);
      expect(running.warnings).toHaveLength(1);
    });

    test("are awake after a restart, which tells them", async () => {
      const { machine, running } = await startWith(STATE);
      await running.stop();
      sleep(machine, ["ip nat", "ip6 filter"]);
      const second = await machine.start();
      await second.apply(STATE);
      expect(sleeping(machine)).toEqual(["ip mangle"]);
      expect(second.takeScripts()).toEqual([]);
      expect(second.warnings.toSorted()).toEqual([
        "table ip nat was dormant: packets meet its rules again",
        "table ip6 filter was dormant: packets meet its rules again",
      ]);
    });
  },
);

for (const mode of IPTABLES_MODES) {
  describe(`iptables-${mode}`, requires("linux", "root", "ip", "iptables"), () => {
    test("a restart with the same state executes nothing", async () => {
      const machine = new IptablesMachine(mode);
      const flags = { clusterCidr: "10.244.0.0/16,10.245.0.0/16,fd00:244::/64" };
      const first = await machine.start(flags);
      await first.apply(STATE);
      // Edits leave the rules of shared chains in another order than a first sync does.
      await first.apply(STATE.filter((object) => object !== empty));
      await first.apply(STATE);
      await first.stop();
      const before = machine.rules();
      expect(before).toContain("KUBE-SVC-");

      const second = await machine.start(flags);
      await second.apply(STATE);
      expect(second.takeScripts()).toEqual([]);
      expect(machine.rules()).toBe(before);
    });

    test("an endpoint's change is told in the chains of its service alone", async () => {
      const machine = new IptablesMachine(mode);
      const running = await machine.start();
      await running.apply(STATE);
      running.takeScripts();
      await running.apply(
        STATE.map((one) => (one.kind === "Endpoint" && one.name === "c" ? endpoint("c", 5) : one)),
      );
      const scripts = running.takeScripts();
      expect(scripts).toHaveLength(2);
      for (const script of scripts) {
        expect(script).not.toContain("*filter");
        expect(script).not.toMatch(/KUBE-SERVICES|KUBE-NODEPORTS|KUBE-EXT-/);
      }
      expect(machine.rules()).toContain("--to-destination 10.244.1.5:8080");
      expect(machine.rules()).not.toContain("10.244.1.4");
    });

    test("what is gone leaves nothing behind", async () => {
      const machine = new IptablesMachine(mode);
      const running = await machine.start();
      await running.apply([node]);
      const before = machine.rules();
      await running.apply(STATE);
      await running.apply([node]);
      expect(machine.rules()).toBe(before);
    });

    test("rules that others altered are put right within the sync period, and told", async () => {
      const machine = new IptablesMachine(mode);
      const running = await machine.start();
      await running.apply(STATE);
      await running.passSyncPeriod();
      expect(running.takeScripts()).toHaveLength(2);
      const right = machine.rules();
      const harms = [
        () => machine.iptables("-t", "nat", "-F", "KUBE-SERVICES"),
        () => machine.iptables("-t", "filter", "-D", "KUBE-FORWARD", "1"),
        () => machine.iptables("-t", "nat", "-I", "KUBE-POSTROUTING", "-j", "RETURN"),
        () => machine.iptables("-t", "nat", "-D", "PREROUTING", "1"),
        () => machine.iptables("-t", "filter", "-F"),
        () => machine.iptables("-R", "KUBE-FIREWALL", "1", ...GUARD_COMMENT, "-j", "ACCEPT"),
        () => machine.iptables("-A", "KUBE-FIREWALL", ...GUARD_COMMENT, "-j", "ACCEPT"),
      ];
      for (const harm of harms) {
        harm();
        expect(machine.rules()).not.toBe(right);
        await running.passSyncPeriod();
        expect(machine.rules()).toBe(right);
        expect(running.warnings.splice(0)).toEqual(["rules were altered by others, and put right"]);
      }
      running.takeScripts();
      await running.passSyncPeriod();
      expect(running.takeScripts()).toEqual([]);
      expect(running.warnings).toEqual([]);
    });

    test("a change that meets altered rules is made all the same", async () => {
      const machine = new IptablesMachine(mode);
      const running = await machine.start();
      await running.apply(STATE);
      machine.iptables("-t", "nat", "-F", "KUBE-NODEPORTS");
      await running.apply(STATE.filter((object) => object !== web));
      expect(machine.rules()).not.toContain("default/web:http");
      expect(running.warnings).toHaveLength(1);
      await running.apply(STATE);
      expect(machine.rules()).toMatch(/--dport 30080 .*-j KUBE-EXT-/);
    });

    test.each([
      ["goes, with what leads to it", [], 0],
      ["goes but for an empty chain that others lead to", ["-A OTHER -j KUBE-IPVS-FILTER"], 2],
    ])("at a first sync what the mode IPVS left %s", async (_, others, lines) => {
      const machine = new IptablesMachine(mode);
      const left = [
        "*filter\n:KUBE-IPVS-FILTER - [0:0]\n:OTHER - [0:0]",
        "-A INPUT -j OTHER",
        "-A INPUT -j KUBE-IPVS-FILTER",
        ...others,
        "-A KUBE-IPVS-FILTER -j REJECT",
        "COMMIT\n",
      ];
      machine.run(`iptables-${mode}-restore`, ["--noflush"], left.join("\n"));
      const running = await machine.start();
      await running.apply(STATE);
      const rules = machine.rules().split("\n");
      expect(rules).toContain("-A INPUT -j OTHER");
      const ofIpvs = rules.filter((line) => line.includes("KUBE-IPVS-FILTER"));
      expect(ofIpvs).toHaveLength(lines);
      expect(ofIpvs).toEqual(expect.arrayContaining(others));
      await running.passSyncPeriod();
      expect(running.warnings).toEqual([]);
    });

    test("a chain of ours that others lead to does not hold up the service that loses it", async () => {
      const machine = new IptablesMachine(mode);
      const running = await machine.start();
      await running.apply(STATE);
      const [chain = ""] = /KUBE-SVC-\w+/.exec(machine.rules()) ?? [];
      machine.iptables("-t", "nat", "-N", "OTHER");
      machine.iptables("-t", "nat", "-A", "OTHER", "-j", chain);
      await running.apply([node, listener]);
      expect(machine.rules()).toContain(`-A OTHER -j ${chain}\n`);
      expect(machine.rules()).not.toContain(`-A ${chain}`);
      expect(machine.rules()).not.toContain("10.96.0.10");
      running.takeScripts();
      await running.passSyncPeriod();
      await running.passSyncPeriod();
      expect(running.takeScripts()).toEqual([]);
    });

    test("rules of others at hooks that lead to chains of ours stay, wherever they stand", async () => {
      const machine = new IptablesMachine(mode);
      const running = await machine.start();
      await running.apply(STATE);
      await running.passSyncPeriod();
      running.takeScripts();
      const [service = ""] = /KUBE-SVC-\w+/.exec(machine.rules()) ?? [];
      const others = [
        "-I PREROUTING 1 -s 1.2.3.4/32 -j KUBE-MARK-MASQ",
        '-A PREROUTING -s 1.2.3.4/32 -m comment --comment "of mine" -j KUBE-MARK-MASQ',
        `-A PREROUTING -p udp -j ${service}`,
        "-A POSTROUTING -s 5.6.7.8/32 -j KUBE-POSTROUTING",
      ];
      const restore = (table: string, lines: readonly string[]) =>
        machine.run(
          `iptables-${mode}-restore`,
          ["--noflush"],
          [`*${table}`, ...lines, "COMMIT\n"].join("\n"),
        );
      restore("nat", others);
      restore("filter", ["-I FORWARD 2 -s 1.2.3.4/32 -j KUBE-FORWARD"]);
      const right = machine.rules();
      await running.passSyncPeriod();
      expect(running.takeScripts()).toEqual([]);
      // What others did to our own jumps is put right beside them: these stand in front again.
      machine.iptables("-t", "nat", "-D", "PREROUTING", "2");
      machine.iptables("-A", "FORWARD", "-j", "KUBE-FORWARD");
      await running.passSyncPeriod();
      expect(running.warnings.splice(0)).toEqual(["rules were altered by others, and put right"]);
      expect(rulesOf(machine.rules()).toSorted()).toEqual(rulesOf(right).toSorted());
      await running.passSyncPeriod();
      running.takeScripts();
      await running.passSyncPeriod();
      expect(running.takeScripts()).toEqual([]);
      // The service goes, and one of them still leads to its chain.
      await running.apply([node, listener]);
      expect(machine.rules()).toContain(`-A PREROUTING -p udp -j ${service}\n`);
      expect(machine.rules()).not.toContain(`-A ${service}`);

      await running.backend.cleanup();
      const left = [
        `:${service} - `,
        ":KUBE-FORWARD - ",
        ":KUBE-MARK-MASQ - ",
        ":KUBE-POSTROUTING - ",
        "-A FORWARD -s 1.2.3.4/32 -j KUBE-FORWARD",
        ...others.map((rule) => rule.replace("-I PREROUTING 1", "-A PREROUTING")),
      ];
      expect(rulesOf(machine.rules()).toSorted()).toEqual(left.toSorted());
      const after = machine.rules();
      await running.backend.cleanup();
      expect(machine.rules()).toBe(after);
    });

    test("jumps of a kube-proxy of any version and mode give way to ours, and clean-up leaves none", async () => {
      const machine = new IptablesMachine(mode);
      const jumps = KUBE_PROXY_JUMPS.map(restorableJump).join("");
      for (const name of ["iptables", "ip6tables"]) {
        machine.run(`${name}-${mode}-restore`, ["--noflush"], jumps);
      }
      expect(machine.rules()).toContain("KUBE-IPVS-OUT-FILTER");
      const running = await machine.start({ takeOver: true });
      await running.apply(STATE);
      const taken = machine.rules();
      const fresh = new IptablesMachine(mode);
      await (await fresh.start()).apply(STATE);
      expect(rulesOf(taken).toSorted()).toEqual(rulesOf(fresh.rules()).toSorted());
      await running.backend.cleanup();
      expect(machine.rules()).not.toContain("KUBE");
    });

    test.each([
      ["both ways", ["INPUT", "OUTPUT"]],
      ["one way", ["OUTPUT"]],
    ])("clean-up removes everything of ours, and nothing else: %s", async (_, kubeletHooks) => {
      const machine = new IptablesMachine(mode);
      const others = [
        "*mangle\n:KUBE-KUBELET-CANARY - [0:0]\nCOMMIT",
        "*nat\n:KUBE-MARK-DROP - [0:0]\n:OTHER - [0:0]\n:KUBE-MARK-MASQ - [0:0]",
        "-A OTHER -p udp -j KUBE-MARK-MASQ",
        "-A KUBE-MARK-DROP -j MARK --set-xmark 0x8000/0x8000",
        "-A PREROUTING -p tcp -m tcp --dport 1 -j OTHER",
        '-A PREROUTING -p tcp -m comment --comment "before -j KUBE-SERVICES is met" -j OTHER\nCOMMIT',
        "*filter\n:KUBE-FIREWALL - [0:0]",
        ...kubeletHooks.map((hook) => `-A ${hook} -j KUBE-FIREWALL`),
        '-A KUBE-FIREWALL ! -s 127.0.0.0/8 -d 127.0.0.0/8 -m comment --comment "block incoming localnet connections" -m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP',
        "COMMIT\n",
      ].join("\n");
      for (const name of ["iptables", "ip6tables"]) {
        const text = name === "iptables" ? others : others.replace(/^-A KUBE-FIREWALL.*\n/m, "");
        machine.run(`${name}-${mode}-restore`, ["--noflush"], text);
      }
      const before = machine.rules();
      const running = await machine.start({ nodeportAddresses: "127.0.0.0/8,192.0.2.0/24" });
      await running.apply(STATE);
      expect(machine.rules()).toContain("portolan: block incoming localnet connections");
      await running.backend.cleanup();
      expect(machine.rules()).toBe(before);
      await running.backend.cleanup();
      expect(machine.rules()).toBe(before);
    });

    test("many services come and go, without the tool being slow with them", {
      timeout: 120_000,
    }, async () => {
      const machine = new IptablesMachine(mode);
      machine.iptables("-t", "nat", "-A", "PREROUTING", "-p", "tcp", "-j", "ACCEPT");
      const before = machine.rules();
      const running = await machine.start();
      await running.apply([...STATE, ...MANY]);
      const script = running.takeScripts().find((text) => text.includes("10.245.0.1:8080"));
      expect(script?.match(/^\*nat$/gm)).toHaveLength(mode === "nft" ? 2 : 1);
      expect(machine.rules().match(/-j DNAT --to-destination 10\.245/g)).toHaveLength(
        MANY_SERVICES,
      );
      await running.passSyncPeriod();
      expect(running.takeScripts()).toEqual([]);
      await running.stop();
      // A new instance knows nothing, and compares all of it.
      const second = await machine.start();
      await second.apply([...STATE, ...MANY]);
      expect(second.takeScripts()).toEqual([]);
      await second.apply([...STATE, ...MANY.slice(2)]);
      expect(second.takeScripts()).toHaveLength(1);
      expect(machine.rules()).not.toContain("10.245.0.0:8080");
      await second.backend.cleanup();
      // The tools leave hooks of theirs behind, without rules.
      expect(rulesOf(machine.rules())).toEqual(rulesOf(before));
    });

    test("a cluster that grows large has its rules by network, and keeps that until a restart", {
      timeout: 120_000,
    }, async () => {
      const machine = new IptablesMachine(mode);
      const running = await machine.start();
      await running.apply(STATE);
      expect(machine.rules()).not.toMatch(BY_NETWORK);
      await running.apply([...STATE, ...MANY]);
      expect(machine.rules()).toMatch(/-A KUBE-SERVICES -d 10\.97\.0\.0\/20 -j KUBE-SVC-0/);
      expect(machine.rules()).toMatch(/-A KUBE-SVC-0\w+ -d 10\.97\.3\.0\/24 -j KUBE-SVC-0/);
      expect(machine.rules()).not.toMatch(/-A KUBE-SERVICES -d 10\.97\.\d+\.\d+\/32/);
      await running.apply(STATE);
      expect(machine.rules()).toMatch(/-A KUBE-SERVICES -d 10\.96\.0\.0\/20 -j KUBE-SVC-0/);
      expect(machine.rules()).not.toContain("10.97.");
      await running.passSyncPeriod();
      running.takeScripts();
      await running.stop();
      const second = await machine.start();
      await second.apply(STATE);
      expect(machine.rules()).not.toMatch(BY_NETWORK);
      expect(machine.rules()).toMatch(/-A KUBE-SERVICES -d 10\.96\.0\.10\/32 /);
    });

    test("in a large cluster, a listener that refuses nobody comes and goes without a word", async () => {
      const open = securityGroupSchema.parse({
        kind: "SecurityGroup",
        name: "open",
        defaultAccess: "allow",
      });
      const front = listenerSchema.parse({
        kind: "Listener",
        name: "open",
        address: "198.51.100.7",
        port: 8000,
        service: "default/empty",
        securityGroup: "default/open",
      });
      const machine = new IptablesMachine(mode);
      const running = await machine.start();
      const state = [node, empty, open, ...LARGE_CLUSTER];
      await running.apply(state);
      await running.apply([...state, front]);
      expect(machine.rules()).toContain("198.51.100.7/32");
      await running.apply(state);
      await running.passSyncPeriod();
      expect(running.warnings).toEqual([]);
      expect(machine.rules()).not.toContain("198.51.");
    });

    test("a kube-proxy that comes back to a large cluster can remove chains of services", async () => {
      const machine = new IptablesMachine(mode);
      const running = await machine.start();
      await running.apply([node, ...LARGE_CLUSTER]);
      await running.stop();
      const chains = [...new Set(machine.rules().match(/KUBE-S(?:VC|EP)-\w+/g))];
      expect(chains.length).toBeGreaterThan(2);
      // It empties all chains of the names that it knows and does not need, then deletes them.
      const script = [
        "*nat",
        ...["KUBE-SERVICES", ...chains].map((chain) => `:${chain} - [0:0]`),
        ...chains.map((chain) => `-X ${chain}`),
        "COMMIT\n",
      ];
      machine.run(`iptables-${mode}-restore`, ["--noflush"], script.join("\n"));
      expect(machine.rules()).not.toContain("KUBE-SVC-");
    });

    test("the state of every scenario reads back as it was told", {
      timeout: 120_000,
    }, async () => {
      const machine = new IptablesMachine(mode);
      const running = await machine.start({ clusterCidr: "10.244.0.0/16,fd00:244::/32" });
      const states = new Map(SCENARIOS.map(({ objects }) => [JSON.stringify(objects), objects]));
      let checked = 0;
      for (const [index, objects] of [...states.values()].entries()) {
        if (index % EVERY !== 0) continue;
        await running.apply(objects);
        running.takeScripts();
        await running.passSyncPeriod();
        expect(running.takeScripts()).toEqual([]);
        checked += 1;
      }
      expect(checked).toBeGreaterThan(10);
    });
  });
}

function rulesOf(saved: string): readonly string[] {
  return saved.split("\n").filter((line) => line.startsWith("-") || line.startsWith(":KUBE"));
}

/** Chains for networks, but for those that reject ports. */
const BY_NETWORK = /KUBE-NET-|KUBE-SVC-0/;

/** They differ by little: some are enough to meet every kind of rule. */
const EVERY = 11;

test(
  "a second instance is refused, also by clean-up",
  requires("linux", "root", "ip", "iptables"),
  async () => {
    const machine = new IptablesMachine("nft");
    const first = await machine.start();
    await expect(machine.start()).rejects.toThrow(`pid ${process.pid}`);
    await first.stop();
    await machine.start();
  },
);

test(
  "beside a kube-proxy it starts only where it is told to take over",
  requires("linux", "root", "ip", "iptables"),
  async () => {
    const machine = new IptablesMachine("nft");
    await expect(machine.start({}, "pid 7")).rejects.toThrow("kube-proxy runs here (pid 7)");
    await machine.start({ takeOver: true }, "pid 7");
  },
);
