import { expect, test } from "vitest";
import { ipAddress } from "../../platform/socket-address.ts";
import { PROXY_IP, SimulatedProxy, simulatedConfig } from "../loop/simulated-proxy.fixture.ts";
import { MAX_UDP_SESSIONS } from "./udp-entrance.ts";

const SERVER_IP = "10.0.1.1";
const SERVER_PORT = 80;
/** As many as may wait in a simulated socket. */
const BATCH = 100;

test("a flood of senders ends the oldest sessions, and the number of them is bounded", () => {
  const proxy = new SimulatedProxy();
  // Somebody has the port: a dead one ends the sessions that lead to it.
  proxy.host("server", SERVER_IP).provider.bindDatagram(ipAddress(SERVER_IP, SERVER_PORT));
  proxy.apply(simulatedConfig([SERVER_IP], { listener: { mode: "udp" } }));
  const { provider } = proxy.host("flood", "10.0.3.1");
  const to = ipAddress(PROXY_IP, 80);
  for (let sent = 0; sent < MAX_UDP_SESSIONS + BATCH; sent += BATCH) {
    for (let one = 0; one < BATCH; one += 1) {
      const fd = provider.bindDatagram(ipAddress("10.0.3.1", 0), { connectTo: to });
      fd.queue(Buffer.from("?"));
      fd.flush();
      fd.close();
    }
    proxy.run(1);
  }
  expect(proxy.program.openCount).toBe(MAX_UDP_SESSIONS);
  expect(proxy.errors).toEqual([]);
});
