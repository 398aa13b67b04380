import { expect, test } from "vitest";
import { HEADER_BYTES } from "../netlink-words.ts";
import { NetlinkWriter } from "../netlink-writer.ts";
import { parseAddress, writeAddressChange } from "./link-codec.ts";

/** What `ip address add 10.96.0.10/32 dev LINK scope host` sends for link 2, behind the header. */
const ADD = "022000fe 02000000 08000200 0a60000a 08000100 0a60000a".replaceAll(" ", "");
const ADDRESS = { link: 2, ip: "10.96.0.10", prefixLength: 32 };

function bytesOf(kind: "add" | "delete", address: typeof ADDRESS): Uint8Array {
  const writer = new NetlinkWriter();
  writeAddressChange(writer, 7, { kind, address }, true);
  return writer.written().slice(HEADER_BYTES);
}

test("an address is written as ip writes it", () => {
  expect(Buffer.from(bytesOf("add", ADDRESS)).toString("hex")).toBe(ADD);
});

test("an address of either family is read again", () => {
  for (const address of [ADDRESS, { link: 3, ip: "fd00::1", prefixLength: 128 }]) {
    const bytes = bytesOf("add", address);
    expect(parseAddress(new DataView(bytes.buffer), 0, bytes.length)).toEqual(address);
  }
});
