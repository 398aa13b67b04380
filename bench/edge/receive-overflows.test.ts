import { expect, test } from "vitest";
import { overflowsIn } from "./receive-overflows.ts";

const SNMP = `Ip: Forwarding DefaultTTL
Ip: 2 64
Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors IgnoredMulti MemErrors
Udp: 314392 0 275659 14156 275659 0 0 0 0
UdpLite: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors
UdpLite: 0 0 0 0 7 0
`;
const HEAD =
  "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops\n";
const SOCKET =
  "  387: 020200C0:C3B7 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 84123 2 0000000000000000 ";

test("counts what programs did not read, without what the tunnel's own sockets lost", () => {
  expect(overflowsIn(SNMP, [HEAD, HEAD])).toBe(275_659);
  expect(overflowsIn(SNMP, [`${HEAD}${SOCKET}600\n${SOCKET}50\n`, `${HEAD}${SOCKET}9\n`])).toBe(
    275_000,
  );
});

test("a kernel that tells no such count is named", () => {
  expect(() => overflowsIn("Udp: InDatagrams\nUdp: 1\n", [])).toThrow("has no RcvbufErrors");
});
