import { expect, test } from "vitest";
import { parseListing } from "./parse-listing.ts";

const LISTING = `table ip portolan {
	comment "services of this node"
	map services {
		type ipv4_addr . inet_proto . inet_service : verdict
		comment "address . protocol . port"
		elements = { 10.96.0.1 . tcp . 80 comment "default/web:http" : goto random-3,
			     10.96.0.2 . udp . 53 : drop }
	}

	set cluster-ips {
		type ipv4_addr
		elements = { 10.96.0.1, 10.96.0.2,
			     10.96.0.3 }
	}

	map remembered {
		type ipv4_addr : classid
		size 1048576
		flags dynamic,timeout
		elements = { 192.0.2.1 timeout 3h expires 2h59m59s996ms : 0:5 }
	}

	set hairpins {
		type ipv4_addr . ipv4_addr
	}

	chain refuse {
		comment "tells the client"
		reject with tcp reset
		reject
	}

	chain output {
		type nat hook output priority -100; policy accept;
		jump dispatch
	}
}
`;

test("reads elements as nft writes them, without time-outs that run", () => {
  const { containers } = parseListing(LISTING);
  expect(containers.get("services")?.elements).toEqual([
    '10.96.0.1 . tcp . 80 comment "default/web:http" : goto random-3',
    "10.96.0.2 . udp . 53 : drop",
  ]);
  expect(containers.get("cluster-ips")?.elements).toEqual(["10.96.0.1", "10.96.0.2", "10.96.0.3"]);
  expect(containers.get("remembered")?.elements).toEqual(["192.0.2.1 : 0:5"]);
  expect(containers.get("hairpins")?.elements).toEqual([]);
});

test("reads the flags of the table, not those of what it holds", () => {
  expect(parseListing(LISTING).flags).toEqual([]);
  const flagged = LISTING.replace("{\n", "{\n\tflags dormant,owner\n\n");
  expect(parseListing(flagged)).toEqual({
    ...parseListing(LISTING),
    flags: ["dormant", "owner"],
  });
});

test("reads the hook and the rules of chains, without comments", () => {
  const { chains } = parseListing(LISTING);
  expect(chains.get("refuse")?.lines).toEqual(["reject with tcp reset", "reject"]);
  expect(chains.get("output")?.lines).toEqual([
    "type nat hook output priority -100; policy accept;",
    "jump dispatch",
  ]);
  expect(chains.size).toBe(2);
});
