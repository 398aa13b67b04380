import { expect, test } from "vitest";
import { type Cidr, parseCidr } from "../../../core/model/address.ts";
import { HEADER_BYTES } from "../netlink-words.ts";
import { NetlinkWriter } from "../netlink-writer.ts";
import { parseListedLink, writeNewPair } from "./pair-codec.ts";
import { type Route, writeRouteChange } from "./route-codec.ts";

function cidr(text: string): Cidr {
  const parsed = parseCidr(text);
  if (parsed === undefined) throw new Error(`${text} is no network`);
  return parsed;
}

function hexOf(write: (writer: NetlinkWriter) => void): string {
  const writer = new NetlinkWriter();
  write(writer);
  return Buffer.from(writer.written().subarray(HEADER_BYTES)).toString("hex");
}

const plain = (text: string): string => text.replaceAll(" ", "");

/** What `ip route add` sends for each, behind the header. */
test.each<[string, Route, string]>([
  [
    "default via 10.18.0.65 dev 2",
    { to: cidr("0.0.0.0/0"), next: { kind: "router", ip: "10.18.0.65", link: 2 } },
    "02000000 fe040001 00000000 08000500 0a120041 08000400 02000000",
  ],
  [
    "10.30.0.0/16 dev 3 scope link src 10.18.0.65",
    { to: cidr("10.30.0.0/16"), next: { kind: "link", link: 3 }, source: "10.18.0.65" },
    "02100000 fe04fd01 00000000 08000100 0a1e0000 08000400 03000000 08000700 0a120041",
  ],
  [
    "unreachable 10.30.0.0/16 metric 9",
    { to: cidr("10.30.0.0/16"), next: { kind: "unreachable" }, metric: 9 },
    "02100000 fe040007 00000000 08000100 0a1e0000 08000600 09000000",
  ],
  [
    "fdff::/16 dev 3",
    { to: cidr("fdff::/16"), next: { kind: "link", link: 3 } },
    "0a100000 fe040001 00000000 14000100 fdff0000 00000000 00000000 00000000 08000400 03000000",
  ],
])("a route is written as ip writes it: %s", (_, route, bytes) => {
  const written = hexOf((writer) => writeRouteChange(writer, 1, { kind: "add", route }));
  expect(written).toBe(plain(bytes));
});

test("a pair of links names its peer and the namespace of that in one message", () => {
  const pair = { name: "a0", mtu: 1420, master: 7, peer: { name: "eth0", namespace: 9 } };
  const written = hexOf((writer) => writeNewPair(writer, 1, pair));
  const peer = "00000000 00000000 00000000 00000000 09000300 65746830 00000000 08000400 8c050000";
  expect(written).toBe(
    plain(
      `00000000 00000000 01000000 01000000 07000300 61300000 08000400 8c050000 08000a00 07000000
       44001280 09000100 76657468 00000000 34000280 30000180 ${peer} 08001c00 09000000`.replaceAll(
        "\n",
        "",
      ),
    ),
  );
});

test("a link of a listing is read, whatever its kind", () => {
  const bytes = Uint8Array.from(
    Buffer.from(
      plain(
        "00000100 05000000 43100000 00000000 07000300 62723000 0a000100 02000000 00070000 08000400 8c050000 10001200 0b000100 62726964 67650000",
      ),
      "hex",
    ),
  );
  expect(parseListedLink(new DataView(bytes.buffer), 0, bytes.length)).toEqual({
    link: 5,
    isUp: true,
    isEthernet: true,
    name: "br0",
    kind: "bridge",
    mtu: 1420,
    master: 0,
    mac: Uint8Array.of(2, 0, 0, 0, 0, 7),
  });
});
