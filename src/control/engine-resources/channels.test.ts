import { expect, test } from "vitest";
import { ipAddress } from "../../platform/socket-address.ts";
import type { EngineChannel } from "../engine-port.ts";
import { MemoryEngine } from "../memory-engine.fixture.ts";
import { TypedControl } from "../typed.fixture.ts";

const LISTENER = "default/lb0";
const SERVER = "default/g0/s1";
const HERE = ipAddress("127.0.0.1", 8080);

function channel(changes: Partial<EngineChannel>): EngineChannel {
  return {
    id: JSON.stringify(changes),
    kind: "connection",
    loop: "worker-1",
    loopGroup: "worker",
    listener: LISTENER,
    server: "",
    local: HERE,
    remote: undefined,
    toServer: undefined,
    bytesIn: 0,
    bytesOut: 0,
    accepted: 0,
    ...changes,
  };
}

/** Two clients of one listener, of which one has a server. */
function channels(): readonly EngineChannel[] {
  const [one, two] = [ipAddress("10.0.0.7", 1001), ipAddress("10.0.0.8", 1002)];
  const [from, to] = [ipAddress("127.0.0.1", 3000), ipAddress("127.0.0.1", 80)];
  const moved = { bytesIn: 10, bytesOut: 20 };
  return [
    channel({ kind: "server-sock", accepted: 1, ...moved }),
    channel({ kind: "server-sock", loop: "worker-2", accepted: 2, bytesIn: 1, bytesOut: 2 }),
    channel({ remote: one, ...moved }),
    channel({ local: from, remote: to, server: SERVER, bytesIn: 20, bytesOut: 10 }),
    channel({
      kind: "session",
      remote: one,
      server: SERVER,
      toServer: { local: from, remote: to },
      ...moved,
    }),
    channel({ remote: two, loop: "worker-2" }),
    channel({ kind: "session", remote: two, loop: "worker-2" }),
    channel({ listener: "default/other", remote: two }),
  ];
}

async function start(): Promise<{ readonly typed: TypedControl; readonly engine: MemoryEngine }> {
  const engine = new MemoryEngine();
  const typed = new TypedControl({ engine });
  await typed.typeAll(
    "add upstream u0",
    "add server-group g0",
    "add server s1 to server-group g0 address 127.0.0.1:80",
    "add server-group g0 to upstream u0",
    "add tcp-lb lb0 address 127.0.0.1:8080 upstream u0",
  );
  engine.openChannels = channels();
  const counted = { connections: 2, totalConnections: 3, bytesIn: 11, bytesOut: 22, failures: 0 };
  engine.totals = new Map([[LISTENER, counted]]);
  const state = { server: SERVER, address: "127.0.0.1:80", reason: "", meanLatencyMs: 1 };
  engine.states = new Map([
    [SERVER, { ...counted, totalConnections: 1, ...state, health: "up" as const }],
  ]);
  return { typed, engine };
}

const CLIENT = "127.0.0.1:8080/10.0.0.7:1001";

test("sockets, connections and sessions are listed where they are", async () => {
  const { typed } = await start();
  expect(await typed.names("list server-sock in tcp-lb lb0")).toEqual([
    "127.0.0.1:8080",
    "127.0.0.1:8080",
  ]);
  expect(await typed.names("list connection in tcp-lb lb0")).toHaveLength(3);
  expect(await typed.names("list connection in event-loop worker-2")).toEqual([
    "127.0.0.1:8080/10.0.0.8:1002",
  ]);
  expect(
    await typed.names("list session in event-loop worker-1 in event-loop-group worker"),
  ).toEqual([CLIENT]);
  expect(await typed.names("list connection in server s1 in server-group g0")).toEqual([
    "127.0.0.1:3000/127.0.0.1:80",
  ]);
  expect(await typed.records("list-detail session in server s1 in server-group g0")).toEqual([
    {
      name: CLIENT,
      client: "10.0.0.7:1001",
      called: "127.0.0.1:8080",
      "from-local": "127.0.0.1:3000",
      "to-server": "127.0.0.1:80",
      listener: "lb0",
      "event-loop": "worker-1",
      "event-loop-group": "worker",
      server: "s1",
      "server-group": "g0",
      "bytes-in": 10,
      "bytes-out": 20,
    },
  ]);
  expect(await typed.records("list-detail server-sock in event-loop worker-2")).toEqual([
    {
      name: "127.0.0.1:8080",
      listener: "lb0",
      "event-loop": "worker-2",
      "event-loop-group": "worker",
      "accepted-conn-count": 2,
      "bytes-in": 1,
      "bytes-out": 2,
    },
  ]);
});

test("they are closed by their names, or by what fits them", async () => {
  const { typed, engine } = await start();
  expect(await typed.type(`remove session ${CLIENT} from tcp-lb lb0`)).toEqual({
    kind: "done",
    note: "1 session closed",
  });
  expect(await typed.refusal(`remove session ${CLIENT} from tcp-lb lb0`)).toMatch(
    /^ERR_NOT_FOUND there is no session "127/,
  );
  expect(await typed.type("remove connection /10\\.0\\.0\\.\\d/ from tcp-lb lb0")).toMatchObject({
    note: "2 connections closed",
  });
  expect(await typed.type("remove connection /nobody/ from tcp-lb lb0")).toMatchObject({
    note: "0 connections closed",
  });
  expect(engine.openChannels.map(({ listener }) => listener)).toContain("default/other");
  expect(await typed.refusal("remove connection /(/ from tcp-lb lb0")).toMatch(
    /^ERR_USAGE name: "\/\(\/" is not valid; expected a regular expression/,
  );
  expect(await typed.refusal("remove server-sock 127.0.0.1:8080 from tcp-lb lb0")).toMatch(
    /^ERR_USAGE /,
  );
});

test("a place that is not there, or is something else, is told", async () => {
  const { typed } = await start();
  expect(await typed.refusal("list connection in tcp-lb lb1")).toContain('did you mean "lb0"?');
  expect(await typed.refusal("list connection in udp-lb lb0")).toContain("tcp-lb lb0");
  expect(await typed.refusal("list session in server s2 in server-group g0")).toContain('"s1"');
  expect(await typed.refusal("list session in server s1 in server-group g1")).toContain('"g0"');
  expect(await typed.refusal("list session in event-loop worker-9")).toContain('"worker-');
});

test.each([
  ["bytes-in in tcp-lb lb0", 11],
  ["bytes-out in tcp-lb lb0", 22],
  ["accepted-conn-count in tcp-lb lb0", 3],
  ["bytes-in in server s1 in server-group g0", 11],
  ["accepted-conn-count in server s1 in server-group g0", 1],
  ["bytes-in in server-sock 127.0.0.1:8080 in tcp-lb lb0", 11],
  ["bytes-in in server-sock 127.0.0.1:8080 in event-loop worker-2", 1],
  ["accepted-conn-count in server-sock 127.0.0.1:8080 in tcp-lb lb0", 3],
  [`bytes-out in connection ${CLIENT} in tcp-lb lb0`, 20],
  [`bytes-in in session ${CLIENT} in server s1 in server-group g0`, 10],
])("list %s", async (what, value) => {
  const { typed } = await start();
  expect(await typed.type(`list ${what}`)).toEqual({ kind: "number", value });
});

test("figures of what is not there are refused; what was never called has none", async () => {
  const { typed, engine } = await start();
  expect(await typed.refusal("list bytes-in in connection a/b in tcp-lb lb0")).toMatch(
    /^ERR_NOT_FOUND there is no connection "a\/b"/,
  );
  engine.totals = new Map();
  expect(await typed.type("list bytes-in in tcp-lb lb0")).toEqual({ kind: "number", value: 0 });
});

test("names that are known are listed and forgotten, those of servers apart", async () => {
  const { typed, engine } = await start();
  await typed.type("add dns-server dns0 address 127.0.0.1:5353 upstream u0");
  const entry = (holder: string, name: string) => ({
    holder,
    name,
    addresses: ["192.0.2.1", "2001:db8::1"],
    expiresInMs: 29_500,
  });
  engine.names = [
    entry("resolver", "db.example"),
    entry("default/dns0", "b.example"),
    entry("default/dns0", "a.example"),
  ];
  expect(await typed.names("list dns-cache")).toEqual(["db.example"]);
  expect(await typed.names("list dns-cache in dns-server dns0")).toEqual([
    "a.example",
    "b.example",
  ]);
  expect(await typed.records("list-detail dns-cache in resolver (default)")).toEqual([
    { name: "db.example", addresses: ["192.0.2.1", "2001:db8::1"], "expires-in": 30 },
  ]);
  expect(await typed.refusal("list dns-cache in resolver other")).toMatch(/^ERR_NOT_FOUND /);
  await typed.type("remove dns-cache db.example from resolver (default)");
  expect(await typed.refusal("remove dns-cache db.example")).toMatch(/^ERR_NOT_FOUND /);
  expect(await typed.type("remove dns-cache /example$/ from dns-server dns0")).toMatchObject({
    note: "2 names forgotten",
  });
  expect(engine.names).toEqual([]);
});
