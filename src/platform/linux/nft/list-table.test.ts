import { describe, expect, onTestFinished, test } from "vitest";
import { requires } from "../../../../test/support/requires.ts";
import { systemExec } from "../exec.ts";
import { NetworkNamespace } from "../network-namespace.ts";
import { listTable, type TableReaders } from "./list-table.ts";
import { createNft, type Nft } from "./nft.ts";
import { openNftElements } from "./nft-elements.ts";
import type { NftListing } from "./parse-listing.ts";

const TABLES = (["ip", "ip6"] as const).map((family) => ({ family, name: "t" }));
const KEY = { ip: "10.0.0.1", ip6: "fd00:0:0:1::1" } as const;
const OTHER = { ip: "10.0.0.2", ip6: "2001:db8::" } as const;
const SCRIPT = TABLES.map(({ family }) => {
  const [own, other] = [KEY[family], OTHER[family]];
  const address = family === "ip" ? "ipv4_addr" : "ipv6_addr";
  return `table ${family} another { chain t { accept; }; }
table ${family} t {
  flags dormant;
  comment "mine"
  chain goal { counter drop; }
  chain base { type nat hook output priority -100; ${family} daddr . meta l4proto . th dport vmap @services; }
  map services {
    type ${address} . inet_proto . inet_service : verdict
    comment "who"
    elements = { ${own} . tcp . 80 comment "a/b:c" : goto goal, ${own} . udp . 53 : drop,
      ${other} . sctp . 65535 : accept, ${other} . tcp . 1 : jump goal }
  }
  map endpoints { type ${address} . classid : ${address} . inet_service; elements = { ${own} . 12:ab : ${other} . 8080 }; }
  map choices { type classid : classid; elements = { 0:1 : ffff:fffe }; }
  set ips { type ${address}; elements = { ${own}, ${other} }; }
  set empty { type inet_service; }
  set ranges { type ${address} . inet_service; flags interval; elements = { ${own} . 80-90 }; }
  set strange { type mark; elements = { 0x00000007 }; }
  map memory { type ${address} : classid; flags dynamic,timeout; timeout 1h; elements = { ${own} : 0:1 }; }
}
`;
}).join("");

class Rig {
  readonly asked: string[] = [];
  readonly nft: Nft;
  readonly readers: TableReaders;

  constructor() {
    const namespace = NetworkNamespace.create();
    const elements = namespace.run(openNftElements);
    onTestFinished(() => {
      elements.close();
      namespace.close();
    });
    this.nft = createNft({
      run: (program, args, options) => {
        this.asked.push(args.join(" "));
        return namespace.run(() => systemExec.run(program, args, options));
      },
    });
    this.readers = { nft: this.nft, elements };
  }
}

function sorted(listing: NftListing | undefined) {
  return (
    listing && {
      flags: listing.flags,
      chains: listing.chains,
      containers: [...listing.containers].map(([name, { elements, ...more }]) => {
        const told = name === "memory" ? [] : [...elements].sort();
        return { name, ...more, elements: told };
      }),
    }
  );
}

describe("a table in the kernel", requires("linux", "root", "nft"), () => {
  test.each(TABLES)(
    "is told as nft lists it, but for what packets fill: $family",
    async (table) => {
      const { nft, readers, asked } = new Rig();
      await nft.run(SCRIPT);
      const listing = await listTable(table, readers);
      expect(asked).not.toContain(`list table ${table.family} t`);
      expect(listing?.containers.get("memory")?.elements).toEqual([]);
      expect(sorted(listing)).toEqual(sorted(await nft.list(table)));
    },
  );

  test("that is not there is none", async () => {
    const { readers } = new Rig();
    expect(await listTable({ family: "ip", name: "t" }, readers)).toBeUndefined();
  });

  test("is read by nft where an element has more than netlink tells here", async () => {
    const { nft, readers, asked } = new Rig();
    await nft.run("table ip t { set s { type ipv4_addr; counter; elements = { 10.0.0.1 }; }; }");
    const outline = { flags: [], containers: new Map(), chains: new Map() };
    const plain = { kind: "set", properties: ["type ipv4_addr"], elements: [] } as const;
    outline.containers.set("s", plain);
    await listTable(
      { family: "ip", name: "t" },
      { ...readers, nft: { ...nft, outline: async () => outline } },
    );
    expect(asked).toContain("list table ip t");
  });

  test("is read by nft where it can not tell all that is of the family", async () => {
    const { nft, readers } = new Rig();
    await nft.run("add table ip t");
    const outline = () => nft.check("nonsense").then(() => undefined);
    const listing = await listTable(
      { family: "ip", name: "t" },
      { ...readers, nft: { ...nft, outline } },
    );
    expect(listing).toEqual({ flags: [], containers: new Map(), chains: new Map() });
  });
});
