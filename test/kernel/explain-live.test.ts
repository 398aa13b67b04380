import { execFileSync } from "node:child_process";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Packet } from "../../src/core/route/packet.ts";
import { openConntrackTable } from "../../src/platform/linux/conntrack/conntrack-table.ts";
import { systemExec } from "../../src/platform/linux/exec.ts";
import { sharesOf } from "../../src/platform/linux/live-rules/compare-verdict.ts";
import { explainLive } from "../../src/platform/linux/live-rules/explain-live.ts";
import { hashValue } from "../../src/platform/linux/live-rules/hash-value.ts";
import { readOwnAddresses } from "../../src/platform/linux/live-rules/read-live-facts.ts";
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
