import { expect, test } from "vitest";
import { HEADER_BYTES } from "../netlink-words.ts";
import { NetlinkWriter } from "../netlink-writer.ts";
import { parseEntries } from "./decode-ipset.ts";
import { type IpSetChange, writeIpSetChange } from "./encode-ipset.ts";
import { entryText, type IpSet, type IpSetEntry, networksFor } from "./ip-set.ts";

const SET: IpSet = { name: "KUBE-X", type: "hash:ip,port,net", family: "v6", hasMarks: false };
const ENTRY: IpSetEntry = {
  ip: "fd00::1",
  protocol: "SCTP",
  port: 80,
  second: "fd00::/32",
  isException: true,
};

/** The attributes of `ipset add KUBE-X fd00::1,sctp:80,fd00::/32 nomatch`, but for the number of the line. */
const ATTRIBUTES: readonly string[] = [
  "18000180 14000240 fd000000 00000000 00000000 00000001",
  "06000440 00500000",
  "05000700 84000000",
  "08000840 00000004",
  "18001480 14000240 fd000000 00000000 00000000 00000000",
  "05001500 20000000",
].map((text) => text.replaceAll(" ", ""));

function bytesOf(change: IpSetChange): string {
  const writer = new NetlinkWriter();
  writeIpSetChange(writer, 7, change, true);
  return Buffer.from(writer.written().subarray(HEADER_BYTES)).toString("hex");
}

test("an entry has the attributes that ipset gives it", () => {
  const bytes = bytesOf({ kind: "add", set: SET, entry: ENTRY });
  expect(bytes.startsWith("0200000005000100060000000b0002004b5542452d580000")).toBe(true);
  for (const attribute of ATTRIBUTES) expect(bytes).toContain(attribute);
  expect(bytes).toHaveLength(
    "0200000005000100060000000b0002004b5542452d580000".length + 8 + ATTRIBUTES.join("").length,
  );
});

test("a listing is read as it was written", () => {
  const mark = { ip: "10.0.0.1", protocol: "TCP", port: 80, mark: 0x2000_0001 } as const;
  for (const entry of [ENTRY, mark, { port: 30_000 }, { ip: "10.0.0.7" }]) {
    const whole = bytesOf({ kind: "add", set: SET, entry });
    const data = whole.slice(48);
    const size = (data.length / 2 + 4).toString(16).padStart(2, "0");
    const listing = Uint8Array.from(Buffer.from(`02000000${size}000880${data}`, "hex"));
    const read: IpSetEntry[] = [];
    parseEntries(new DataView(listing.buffer), 0, listing.length, (one) => read.push(one));
    expect(read).toEqual([entry]);
  }
});

test("entries are told as ipset prints them", () => {
  expect(entryText(ENTRY)).toBe("fd00::1,sctp:80,fd00::/32 nomatch");
  expect(entryText({ ip: "10.0.0.1", protocol: "TCP", port: 80, mark: 0x2000_0001 })).toBe(
    "10.0.0.1,tcp:80 skbmark 0x20000001",
  );
  expect(entryText({ ip: "10.0.0.1", protocol: "UDP", port: 53, second: "10.0.0.1/32" })).toBe(
    "10.0.0.1,udp:53,10.0.0.1",
  );
});

test("everyone is two halves: no set holds a network of no bits", () => {
  expect(networksFor("0.0.0.0/0")).toEqual(["0.0.0.0/1", "128.0.0.0/1"]);
  expect(networksFor("10.0.0.0/8")).toEqual(["10.0.0.0/8"]);
});
