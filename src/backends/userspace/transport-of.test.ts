import { expect, test } from "vitest";
import { groupSchema } from "../../core/model/group.ts";
import { endpoint, listener, plan, service } from "./plan-engine.fixture.ts";

const BY_KCP = { annotations: { "portolan/transport": "kcp" } };
const GROUP = groupSchema.parse({ kind: "Group", name: "web", ...BY_KCP });

test("a group and a listener by KCP are told to the engine as such", async () => {
  const objects = [service({}), GROUP, endpoint("a"), listener(BY_KCP)];
  const { config, notHonoured } = await plan(objects, { hasTunnels: true });
  expect(config.groups.map(({ transport }) => transport)).toEqual(["kcp"]);
  expect(config.listeners.map(({ transport }) => transport)).toEqual(["kcp"]);
  expect(notHonoured).toEqual([]);
});

test("a tunnel leads from one family to the other, at both of its ends", async () => {
  const six = endpoint("a", { addresses: ["fd00::1"] });
  const [client, server] = [
    await plan([service({}), GROUP, six, listener()], { hasTunnels: true }),
    await plan([service({}), six, listener(BY_KCP)], { hasTunnels: true }),
  ];
  for (const { config, notHonoured } of [client, server]) {
    expect(config.groups.flatMap(({ servers }) => servers)).toMatchObject([{ host: "fd00::1" }]);
    expect(notHonoured).toEqual([]);
  }
});

test("a transport that is not known is told, and not taken for TCP", async () => {
  const asked = { annotations: { "portolan/transport": "KCP" } };
  const group = groupSchema.parse({ kind: "Group", name: "web", ...asked });
  const [reached, served] = [
    await plan([service({}), group, endpoint("a"), listener()], { hasTunnels: true }),
    await plan([service({}), endpoint("a"), listener(asked)], { hasTunnels: true }),
  ];
  expect(reached.config.groups.map(({ servers }) => servers)).toEqual([[]]);
  expect(served.config.listeners).toEqual([]);
  for (const { notHonoured } of [reached, served]) {
    expect(notHonoured.join("\n")).toContain('is "KCP"; expected kcp or tcp');
  }
});

test("a listener by KCP has a port of UDP, which no other one gets", async () => {
  const ports = [
    { name: "tcp", port: 80, targetPort: 8080 },
    { name: "udp", port: 80, targetPort: 8080, protocol: "UDP" },
  ];
  const { config, notHonoured } = await plan(
    [
      service({ ports }),
      endpoint("a"),
      listener({ ...BY_KCP, servicePort: "tcp" }),
      listener({ name: "second", mode: "udp", servicePort: "udp" }),
    ],
    { hasTunnels: true },
  );
  expect(config.listeners.map(({ key }) => key)).toEqual(["default/front"]);
  expect(notHonoured.join("\n")).toContain("127.0.0.1:8080/udp is taken");
});

test("without a secret nothing is reached or served, and it is told", async () => {
  const [reached, served] = [
    await plan([service({}), GROUP, endpoint("a"), listener()]),
    await plan([service({}), endpoint("a"), listener(BY_KCP)]),
  ];
  expect(reached.config.groups.map(({ servers }) => servers)).toEqual([[]]);
  expect(reached.notHonoured.join("\n")).toContain("PORTOLAN_KCPTUN_SECRET");
  expect(served.config.listeners).toEqual([]);
  expect(served.notHonoured.join("\n")).toContain("PORTOLAN_KCPTUN_SECRET");
});

const TLS = { certificate: "default/own", peers: ["spiffe://portolan/*"] };

test("TLS within KCP is refused at both ends, with the words for it", async () => {
  const group = groupSchema.parse({ kind: "Group", name: "web", ...BY_KCP, tls: TLS });
  const front = listener({ ...BY_KCP, tls: { certificates: ["default/own"] } });
  const [reached, served] = [
    await plan([service({}), group, endpoint("a"), listener()], { hasTunnels: true }),
    await plan([service({}), endpoint("a"), front], { hasTunnels: true }),
  ];
  expect(reached.config.groups.map(({ servers }) => servers)).toEqual([[]]);
  expect(served.config.listeners).toEqual([]);
  for (const { notHonoured } of [reached, served]) {
    expect(notHonoured.join("\n")).toContain("within which TLS is not spoken");
  }
});

test.each([BY_KCP, { tls: TLS }])("no datagrams go to a group with %j", async (sealed) => {
  const group = groupSchema.parse({ kind: "Group", name: "web", ...sealed });
  const ports = [{ name: "udp", port: 80, targetPort: 8080, protocol: "UDP" }];
  const objects = [service({ ports }), group, endpoint("a"), listener({ mode: "udp" })];
  const { config, notHonoured } = await plan(objects, { hasTunnels: true });
  expect(config.groups.map(({ servers }) => servers)).toEqual([[]]);
  expect(notHonoured.join("\n")).toContain("no datagrams are sent to them: Group default/web");
});

test("an agent of WebSocks whose group has TLS stays closed: its URLs say how servers are spoken to", async () => {
  const group = groupSchema.parse({ kind: "Group", name: "web", tls: TLS });
  const websocksAgent = { servers: ["ws://a@10.0.0.1:8080"], passwordFile: "env:PORTOLAN_X" };
  const agent = listener({ mode: "websocks-agent", websocksAgent });
  const { config, notHonoured } = await plan([service({}), group, endpoint("a"), agent]);
  expect(config.listeners).toEqual([]);
  expect(notHonoured.join("\n")).toContain("expected wss:// in the URLs of its servers");
});
