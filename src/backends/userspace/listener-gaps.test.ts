import { expect, test } from "vitest";
import { endpoint, listener, plan, service } from "./plan-engine.fixture.ts";

test("servers without an address of a listener's family are told", async () => {
  const six = (name: string, more = {}) => endpoint(name, { addresses: ["fd00::9"], ...more });
  const word = "its servers that are reached by IPv6 only are not used";
  const many = Array.from({ length: 7 }, (_, number) =>
    six(`s${number}`, { addresses: [`fd00::${number}`] }),
  );
  expect((await plan([service({}), ...many, listener()])).notHonoured).toEqual([
    `it is called by IPv4, and ${word}: Listener default/front (default/web/s0, default/web/s1, default/web/s2, default/web/s3, default/web/s4 and 2 more)`,
  ]);
  const notTold = [
    [six("a"), listener({ address: "/run/x", port: 0 })],
    [six("a"), listener({ mode: "dns" })],
    [endpoint("a", { addresses: [], hostName: "a.example" }), listener()],
    // A pod of two families, as EndpointSlices tell it.
    [six("a", { podName: "p" }), endpoint("b", { podName: "p" }), listener()],
    [endpoint("a"), six("b", { ports: [{ name: "other", port: 1 }] }), listener()],
  ];
  for (const objects of notTold) {
    expect((await plan([service({}), ...objects])).notHonoured).toEqual([]);
  }
  const local = service({ externalTrafficPolicy: "Local" });
  const elsewhere = six("b", { node: "node-b" });
  expect((await plan([local, endpoint("a"), elsewhere, listener()])).notHonoured).toEqual([]);
  expect((await plan([local, endpoint("a"), six("b"), listener()])).notHonoured).toHaveLength(1);
});

test("a service without groups has no server, whoever else has some", async () => {
  const none = service({ groups: [{ group: "default/(none)", weight: 0 }] });
  expect((await plan([none, endpoint("a"), listener()])).notHonoured).toEqual([
    "its service has no server, or none that is ready: Listener default/front (Service default/web)",
  ]);
});

test.each([
  [{ mode: "socks5", allowOthers: true }, 0],
  [{ mode: "dns", allowOthers: true, forwardTo: ["192.0.2.53"] }, 0],
  [{ mode: "socks5" }, 1],
  [{ mode: "dns" }, 1],
])("a listener with %j and no servers has lines: %i", async (more, lines) => {
  const planned = await plan([service({}), listener(more)]);
  expect(planned.config.listeners).toHaveLength(1);
  expect(planned.notHonoured).toHaveLength(lines);
});
