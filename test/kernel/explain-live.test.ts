import { execFileSync } from "node:child_process";
import { isDeepStrictEqual } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Packet } from "../../src/core/route/packet.ts";
import { openConntrackTable } from "../../src/platform/linux/conntrack/conntrack-table.ts";
import { systemExec } from "../../src/platform/linux/exec.ts";
import { sharesOf } from "../../src/platform/linux/live-rules/compare-verdict.ts";
import { explainLive } from "../../src/platform/linux/live-rules/explain-live.ts";
import { hashValue } from "../../src/platform/linux/live-rules/hash-value.ts";
import { readOwnAddresses } from "../../src/platform/linux/live-rules/read-live-facts.ts";
import type { LiveOutcome } from "../../src/platform/linux/live-rules/walk-ruleset.ts";
import { NetworkNamespace } from "../../src/platform/linux/network-namespace.ts";
import { NFT_TABLES } from "../../src/platform/linux/nft/nft-tables.ts";
import { requires } from "../support/requires.ts";

const PACKET: Packet = {
  protocol: "UDP",
  src: "10.0.0.1",
  dst: "10.96.0.1",
  dstPort: 53,
  from: "node",
};

/** A namespace in which every address of 10/8 is its own, and what asks its kernel. */
function openNamespace() {
  const namespace = NetworkNamespace.create();
  onTestFinished(() => namespace.close());
  const run = (program: string, args: readonly string[], input = "") =>
    namespace.run(() => execFileSync(program, args, { input, encoding: "utf8", stdio: "pipe" }));
  const links = [
    "link set lo up",
    "addr add 10.0.0.1/32 dev lo",
    "route add local 10.0.0.0/8 dev lo",
  ];
  run("ip", ["-batch", "-"], links.join("\n"));
  const asked: string[] = [];
  const explain = (packet: Packet = PACKET) =>
    explainLive(packet, {
      exec: {
        run: (program, args, options) => {
          asked.push([program, ...args].join(" "));
          return namespace.run(() => systemExec.run(program, args, options));
        },
      },
      listTables: () => namespace.run(NFT_TABLES.list),
      openConntrack: () => namespace.run(openConntrackTable),
      ownAddresses: () => namespace.run(readOwnAddresses),
    });
  const shares = async (packet?: Packet) =>
    Object.fromEntries(sharesOf((await explain(packet)).outcomes));
  return { run, asked, explain, shares };
}

const TABLE = `table ip byhand {
  map ends { type ipv4_addr . inet_service : ipv4_addr . inet_service; }
  chain out {
    type nat hook output priority -100; policy accept;
    meta l4proto udp dnat ip to ip daddr . udp dport map @ends
  }
}
add element ip byhand ends { 10.96.0.1 . 53 : 10.1.0.1 . 5353 }
`;

const MODULUS = 4_294_967_295;

const needs = requires("linux", "root", "ip", "nft", "iptables", "conntrack");

describe("what the kernel does is read from it", needs, () => {
  test("rules and elements of nftables, and what is altered by hand shows", async () => {
    const { run, explain, shares } = openNamespace();
    expect(await shares()).toEqual({ untouched: 1 });
    run("nft", ["-f", "-"], TABLE);
    expect((await explain()).lines).toEqual([
      "ip byhand out: dnat ip to ip daddr . udp dport map @ends",
      "  ip byhand ends: 10.96.0.1 . 53 : 10.1.0.1 . 5353",
      "100 %: 10.1.0.1:5353",
      "no tracked flow to 10.96.0.1:53",
    ]);
    run("nft", ["insert", "rule", "ip", "byhand", "out", "ip", "daddr", "10.96.0.1", "drop"]);
    expect(await shares()).toEqual({ drop: 1 });
  });

  test("tables that are dormant are passed over, and told", async () => {
    const { run, explain, shares } = openNamespace();
    const sleep = (table: string) =>
      run("nft", ["add", "table", "ip", table, "{ flags dormant; }"]);
    run("nft", ["-f", "-"], TABLE);
    run(
      "nft",
      ["-f", "-"],
      "table ip x { chain o { type filter hook output priority 0; drop; }; }",
    );
    expect(await shares()).toEqual({ drop: 1 });
    sleep("x");
    expect(await shares()).toEqual({ "10.1.0.1:5353": 1 });
    sleep("byhand");
    const { lines } = await explain();
    expect(lines.slice(0, -2).sort()).toEqual([
      "table ip byhand is dormant: no packet meets its rules",
      "table ip x is dormant: no packet meets its rules",
    ]);
    expect(await shares()).toEqual({ untouched: 1 });
    for (const table of ["x", "byhand"]) run("nft", ["add", "table", "ip", table]);
    expect(await shares()).toEqual({ drop: 1 });
  });

  test("of tables that are dormant nft is not asked in JSON, where it may print nothing", async () => {
    const { run, asked, shares } = openNamespace();
    run("nft", ["-f", "-"], TABLE);
    run("nft", ["add table ip sleeps { flags dormant; }"]);
    run("nft", ["add table inet works"]);
    expect(await shares()).toEqual({ "10.1.0.1:5353": 1 });
    expect(asked.filter((call) => call.startsWith("nft -j"))).toEqual([
      "nft -j list table ip byhand",
      "nft -j list table inet works",
    ]);
  });

  test("so are those of iptables-nft, and not those of the same name of the legacy tools", async () => {
    const { run, shares } = openNamespace();
    const drop = ["-t", "mangle", "-A", "OUTPUT", "-j", "DROP"];
    run("iptables-nft", drop);
    run("nft", ["add", "table", "ip", "mangle", "{ flags dormant; }"]);
    expect(await shares()).toEqual({ untouched: 1 });
    run("iptables-legacy", drop);
    expect(await shares()).toEqual({ drop: 1 });
  });

  describe("what others' rules may do", () => {
    const TCP: Packet = { ...PACKET, protocol: "TCP", dstPort: 80 };
    const NAT = `table ip svc { chain out { type nat hook output priority -100;
      ip daddr 10.96.0.1 tcp dport 80 dnat to 10.0.0.1:8080
    }; }`;
    const RIGHT = { "10.0.0.1:8080": 1 };
    const isRight = (outcomes: readonly LiveOutcome[]) =>
      isDeepStrictEqual(Object.fromEntries(sharesOf(outcomes)), RIGHT);
    const NOTHING: readonly string[] = [];

    /** Where the packet comes to, and what is doubted. */
    async function judge(rule: string, hook = "hook output priority 0") {
      const { run, explain } = openNamespace();
      const family = hook.includes("device") ? "netdev" : "ip";
      run("nft", ["-f", "-"], NAT);
      run("nft", ["add", "table", family, "other"]);
      run("nft", ["add", "chain", family, "other", "logs"]);
      run("nft", ["add", "rule", family, "other", "logs", "counter"]);
      run("nft", [`add chain ${family} other fw { type filter ${hook}; }`]);
      run("nft", ["add", "rule", family, "other", "fw", rule]);
      const { outcomes, doubts } = await explain(TCP);
      return { ends: Object.fromEntries(sharesOf(outcomes)), doubts: doubts(isRight) };
    }

    const RAW = "hook output priority raw";
    test.each([
      ["tcp flags syn drop", undefined, { drop: 1 }],
      ["tcp flags & (syn|ack) != syn drop", undefined, RIGHT],
      ["ct original ip daddr 10.96.0.1 drop", undefined, { drop: 1 }],
      ["notrack", RAW, { untouched: 1 }],
      ["ip ttl < 200 counter", undefined, RIGHT],
      ["ip ttl < 200 accept", undefined, RIGHT],
      ["ip ttl < 200 jump logs", undefined, RIGHT],
      ["ip ttl < 200 udp dport 80 drop", undefined, RIGHT],
      ["ct state vmap { invalid : drop, established : accept }", undefined, RIGHT],
      ["ip daddr 10.96.0.1 drop", "hook ingress device lo priority 0", RIGHT],
      ["ip daddr 10.0.0.1 drop", "hook ingress device lo priority 0", { drop: 1 }],
    ])("is known: %s (%s)", async (rule, hook, ends) => {
      const found = await judge(rule, hook);
      expect(found.ends).toEqual(ends);
      if (isDeepStrictEqual(ends, RIGHT)) expect(found.doubts).toEqual(NOTHING);
    });

    test.each([
      ["ip ttl < 200 drop", undefined, "ip"],
      ["ip daddr set 10.96.0.2", RAW, "ip"],
      ["limit rate over 1/second reject", undefined, "ip"],
      ["meta length > 100 drop", "hook ingress device lo priority 0", "netdev"],
    ])("is doubted, and told as people know it: %s (%s)", async (rule, hook, family) => {
      const { ends, doubts } = await judge(rule, hook);
      expect(ends).toEqual(RIGHT);
      expect(doubts).toEqual([expect.stringContaining(`${family} other fw: ${rule}`)]);
    });

    test("is known where it is what firewalld makes", async () => {
      const { run, explain } = openNamespace();
      const rules = `table inet firewalld {
        chain pre {
          type filter hook prerouting priority mangle + 10
          icmpv6 type { nd-router-advert, nd-neighbor-solicit } accept
          meta nfproto ipv6 fib saddr . mark . iif oif missing drop
        }
        chain in {
          type filter hook input priority filter + 10
          ct state { established, related } accept
          ct status dnat accept
          iifname "eth7" goto zone
          ct state invalid log prefix "STATE_INVALID_DROP: "
          ct state invalid drop
          reject with icmpx admin-prohibited
        }
        chain zone {
          tcp dport 22 accept
        }
      }`;
      run("nft", ["-f", "-"], `${NAT}\n${rules}`);
      const { outcomes, doubts } = await explain(TCP);
      expect(isRight(outcomes)).toBe(true);
      expect(doubts(isRight)).toEqual([]);
    });

    test("is met by the links that packets pass, as far as routes tell", async () => {
      const { run, explain, shares } = openNamespace();
      const links = [
        "link add br0 type bridge",
        "link add port0 type veth peer name far0",
        "link add away0 type veth peer name far1",
        "link set port0 master br0",
        "link set br0 up",
        "link set away0 up",
        "addr add 192.0.2.1/24 dev br0",
        "addr add 198.51.100.1/24 dev away0",
      ];
      run("ip", ["-batch", "-"], links.join("\n"));
      const packet: Packet = { ...TCP, src: "192.0.2.9", dst: "198.51.100.9", from: "workload" };
      const doubts = async (): Promise<readonly string[]> => {
        const { outcomes, doubts: find } = await explain(packet);
        expect(Object.fromEntries(sharesOf(outcomes))).toEqual({ untouched: 1 });
        return find((ways) => ways.every(({ end }) => end.kind === "untouched"));
      };
      const addChain = (family: string, name: string, hook: string) =>
        run("nft", [
          `add table ${family} l2; add chain ${family} l2 ${name} { type filter ${hook} priority 0; }; add rule ${family} l2 ${name} ip daddr 198.51.100.9 drop`,
        ]);
      addChain("netdev", "away", "hook ingress device away0");
      addChain("netdev", "back", "hook egress device br0");
      addChain("bridge", "between", "hook forward");
      expect(await doubts()).toEqual([]);
      addChain("netdev", "port", "hook ingress device port0");
      addChain("bridge", "before", "hook prerouting");
      expect([...(await doubts())].sort()).toEqual([
        "bridge l2 before: whether packets pass its link",
        "netdev l2 port: whether packets pass its link",
      ]);
      addChain("inet", "leaves", "hook ingress device br0");
      expect(await shares(packet)).toEqual({ drop: 1 });
    });
  });

  test("tracked flows, and the packet's own one among them", async () => {
    const { run, explain } = openNamespace();
    run("nft", ["-f", "-"], TABLE);
    run("bash", ["-c", "echo > /dev/udp/10.96.0.1/53"]);
    const flow = run("conntrack", ["-L", "-p", "udp"]);
    const srcPort = Number(/sport=(\d+) dport=53/.exec(flow)?.[1]);
    const src = /src=(\S+)/.exec(flow)?.[1] ?? "";
    const { lines } = await explain({ ...PACKET, src, srcPort });
    expect(lines.slice(-2)).toEqual([
      "1 tracked flow to 10.96.0.1:53",
      `  from ${src}:${srcPort} goes to 10.1.0.1:5353 (the packet is of this flow: it goes there, whatever rules say now)`,
    ]);
  });

  test.each(["nft", "legacy"])("rules of iptables-%s", async (mode) => {
    const { run, explain, shares } = openNamespace();
    const rules = `*nat
:SVC - [0:0]
-A OUTPUT -p udp -m udp --dport 53 -d 10.96.0.1 -m comment --comment "the dns" -j SVC
-A SVC -p udp -m statistic --mode random --probability 0.5 -j DNAT --to-destination 10.1.0.1:5353
-A SVC -p udp -j DNAT --to-destination 10.1.0.2:5353
COMMIT
*filter
-A INPUT -p tcp -m tcp --dport 80 -j REJECT --reject-with tcp-reset
COMMIT
`;
    run(`iptables-${mode}-restore`, ["--noflush"], rules);
    expect(await shares()).toEqual({ "10.1.0.1:5353": 0.5, "10.1.0.2:5353": 0.5 });
    const { lines } = await explain();
    expect(lines[0]).toMatch(
      new RegExp(`^iptables-${mode} nat OUTPUT: .*--comment "the dns" .*-j SVC$`),
    );
    expect(lines.some((line) => line.startsWith("not known"))).toBe(false);
    const local = { ...PACKET, dst: "10.0.0.1", dstPort: 80 };
    expect(await shares({ ...local, protocol: "TCP" })).toEqual({ reject: 1 });
    expect(await shares(local)).toEqual({ untouched: 1 });
  });

  test("hashes come out as the kernel computes them", () => {
    const { run } = openNamespace();
    const hash = (of: string, seed: number) => `jhash ${of} mod ${MODULUS} seed 0x${seed}`;
    const rules = [
      `udp dport 53 ct mark set ${hash("ip daddr", 1)}`,
      `udp dport 54 ct mark set ${hash("ip saddr . ip daddr . meta l4proto . th dport", 2)}`,
    ];
    const hook = "type filter hook output priority 0; policy accept;";
    run("nft", ["-f", "-"], `table ip h { chain out { ${hook} ${rules.join("; ")}; }; }`);
    const hashed = (port: number): { readonly src: string; readonly mark: number } => {
      run("bash", ["-c", `echo > /dev/udp/10.96.0.1/${port}`]);
      const flow = run("conntrack", ["-L", "-p", "udp", "--dport", String(port)]);
      const [, src = ""] = /src=(\S+)/.exec(flow) ?? [];
      return { src, mark: Number(/mark=(\d+)/.exec(flow)?.[1]) };
    };
    expect(hashed(53).mark).toBe(hashValue("10.96.0.1", MODULUS, 1));
    const { src, mark } = hashed(54);
    expect(mark).toBe(hashValue([src, "10.96.0.1", "udp", 54], MODULUS, 2));
  });
});
