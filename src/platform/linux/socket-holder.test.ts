import { once } from "node:events";
import { createServer } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { requires } from "../../../test/support/requires.ts";
import { ipAddress, unixAddress } from "../socket-address.ts";
import { findSocketHolder, inodesAt } from "./socket-holder.ts";

const TABLE = `
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 111 1 0 100 0
   1: 00000000:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 222 1 0 100 0
   2: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0        0 333 1 0 100 0
`;
const TABLE_V6 = `
   0: 000080FE000000000000000001000000:1F90 00000000000000000000000000000000:0000 0A 0:0 00:0 0 0 0 444 1
`;
const MULTICAST = `
   0: FB0000E0:14E9 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 555 1 0 100 0
`;
const MULTICAST_V6 = `
   0: 000002FF0000000000000000FB000000:14E9 00000000000000000000000000000000:0000 0A 0:0 00:0 0 0 0 666 1
`;

test.each([
  [TABLE, "127.0.0.1", 8080, ["111"]],
  [TABLE, "127.0.0.2", 8080, []],
  [TABLE, "127.0.0.1", 80, ["222"]],
  [TABLE, "0.0.0.0", 8080, ["111"]],
  [TABLE_V6, "fe80::1", 8080, ["444"]],
  [TABLE_V6, "fe80::2", 8080, []],
  // What comes to a group does not come to the machine.
  [MULTICAST, "0.0.0.0", 5353, []],
  [MULTICAST_V6, "::", 5353, []],
])("sockets in the way: %#", (table, ip, port, inodes) => {
  expect(inodesAt(table, ipAddress(ip, port), "TCP")).toEqual(inodes);
});

describe("this machine", requires("linux"), () => {
  test("tells who listens", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => {
      server.close();
    });
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    expect(findSocketHolder(ipAddress("127.0.0.1", port), "TCP")).toMatchObject({
      pid: process.pid,
    });
  });

  test("nobody listens on a path, or where nobody does", () => {
    expect(findSocketHolder(unixAddress("/run/none"), "TCP")).toBeUndefined();
    expect(findSocketHolder(ipAddress("127.0.0.1", 1), "UDP")).toBeUndefined();
  });
});
