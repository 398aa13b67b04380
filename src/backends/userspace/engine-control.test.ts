import { createSocket } from "node:dgram";
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { decode, encode } from "dns-packet";
import { expect, onTestFinished, test } from "vitest";
import type { Log } from "../../core/log.ts";
import { type Group, groupSchema } from "../../core/model/group.ts";
import { NO_HINTS } from "../../core/model/route-hints.ts";
import { ipAddress } from "../../platform/socket-address.ts";
import { createEngine, type Engine } from "../../proxy/engine.ts";
import {
  EMPTY_ENGINE_CONFIG,
  type EngineConfig,
  type GroupConfig,
} from "../../proxy/engine-config.ts";
import { EngineControl } from "./engine-control.ts";
import { serviceListener } from "./service-listener.ts";

const LOCAL = "127.0.0.1";
const ignore = (): void => undefined;
const LOG: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
const { healthCheck }: Group = groupSchema.parse({ kind: "Group", name: "g0" });
const QUICK = {
  ...healthCheck,
  protocol: "tcp",
  timeoutMs: 500,
  intervalMs: 20,
  up: 1,
  down: 1,
} as const;
const NO_CHECK = { ...QUICK, protocol: "none" } as const;
const LISTENER = "default/lb0";
const SERVER = "default/g0/s1";

/** An engine on this thread, with the control of it. */
class ControlledEngine {
  readonly engine: Engine;
  readonly control: EngineControl;
  #config: EngineConfig = EMPTY_ENGINE_CONFIG;

  private constructor(engine: Engine) {
    this.engine = engine;
    this.control = new EngineControl({ engine, log: LOG, config: () => this.#config });
  }

  static async start(): Promise<ControlledEngine> {
    const options = { loops: 1, provider: "node", log: LOG, drainTimeoutMs: 1000 } as const;
    const engine = await createEngine(options);
    onTestFinished(() => engine.close());
    return new ControlledEngine(engine);
  }

  async apply(config: Partial<EngineConfig>): Promise<void> {
    this.#config = { ...EMPTY_ENGINE_CONFIG, ...config };
    await this.engine.apply(this.#config);
  }

  get port(): number {
    const address = this.engine.stats().listeners[0]?.address;
    return address === undefined || address.family === "unix" ? 0 : address.port;
  }
}

async function startEcho(port = 0): Promise<{ readonly port: number; stop(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", ignore).pipe(socket);
  });
  server.listen(port, LOCAL);
  await once(server, "listening");
  const stop = async (): Promise<void> => {
    if (!server.listening) return;
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  };
  onTestFinished(stop);
  const address = server.address();
  return { port: typeof address === "object" && address !== null ? address.port : 0, stop };
}

function groupOf(key: string, port: number, more: Partial<GroupConfig> = {}): GroupConfig {
  return {
    key,
    method: "round-robin",
    healthCheck: NO_CHECK,
    slowStartMs: 0,
    servers: [{ key: SERVER, host: LOCAL, port, weight: 1 }],
    ...more,
  };
}

function configOf(...groups: readonly GroupConfig[]): Partial<EngineConfig> {
  return {
    listeners: [
      serviceListener({
        key: LISTENER,
        address: ipAddress(LOCAL, 0),
        mode: "tcp",
        upstream: "default/u0",
      }),
    ],
    upstreams: [
      {
        key: "default/u0",
        affinitySeconds: 0,
        groups: groups.map(({ key }) => ({ group: key, weight: 1, hints: NO_HINTS })),
      },
    ],
    groups,
  };
}

async function ask(port: number, text: string): Promise<void> {
  const client = connect(port, LOCAL);
  onTestFinished(() => void client.destroy());
  client.write(text);
  await once(client, "data");
}

test("a server that is in several groups is one, with the sum of them all", async () => {
  const { port } = await startEcho();
  const { control, ...running } = await started(configOf(groupOf("a", port), groupOf("b", port)));
  for (const text of ["one", "two", "three", "four"]) await ask(running.port, text);
  expect(control.servers().get(SERVER)).toMatchObject({
    server: SERVER,
    address: `${LOCAL}:${port}`,
    health: "up",
    reason: "",
    meanLatencyMs: expect.any(Number),
    totalConnections: 4,
    bytesIn: 15,
    bytesOut: 15,
    failures: 0,
  });
  expect(control.servers().size).toBe(1);
  expect(control.listenerTotals().get(LISTENER)).toMatchObject({
    totalConnections: 4,
    bytesIn: 15,
  });
  const sessions = (await control.channels()).filter(({ kind }) => kind === "session");
  expect(sessions).toHaveLength(4);
  expect(sessions[0]).toMatchObject({ listener: LISTENER, server: SERVER });
  expect(await control.closeChannel(sessions[0]?.id ?? "")).toBe(true);
});

async function started(
  config: Partial<EngineConfig>,
): Promise<{ readonly control: EngineControl; readonly port: number }> {
  const running = await ControlledEngine.start();
  await running.apply(config);
  return { control: running.control, port: running.port };
}

test("health is told when it changes, once for all groups, until nobody wants to hear it", async () => {
  const { port, stop } = await startEcho();
  const running = await ControlledEngine.start();
  const told: string[] = [];
  const next: (() => void)[] = [];
  const stopTelling = running.control.onHealth((server, { health, reason }) => {
    told.push(`${server} ${health}${reason === "" ? "" : `: ${reason}`}`);
    next.shift()?.();
  });
  const news = (): Promise<void> => new Promise((resolve) => void next.push(resolve));
  const up = news();
  const checked = { healthCheck: QUICK };
  await running.apply(configOf(groupOf("a", port, checked), groupOf("b", port, checked)));
  await up;
  const down = news();
  await stop();
  await down;
  const upAgain = news();
  await startEcho(port);
  await upAgain;
  expect(told).toEqual([
    `${SERVER} up`,
    expect.stringMatching(`^${SERVER} down: ECONNREFUSED`),
    `${SERVER} up`,
  ]);
  stopTelling();
  expect(running.control.servers().get(SERVER)?.health).toBe("up");
});

test("a server that is down in one group and up in another is up", async () => {
  const { port } = await startEcho();
  const deaf = await startEcho();
  await deaf.stop();
  const running = await ControlledEngine.start();
  const checked = { healthCheck: QUICK };
  await running.apply(configOf(groupOf("a", deaf.port, checked), groupOf("b", port, checked)));
  const isUp = () => running.control.servers().get(SERVER)?.health;
  await expect.poll(isUp).toBe("up");
  await running.apply(configOf(groupOf("a", deaf.port, checked)));
  await expect.poll(isUp).toBe("down");
  expect(running.control.servers().get(SERVER)?.reason).toContain("ECONNREFUSED");
});

test("of the families of an endpoint that is told by name comes one server", async () => {
  const servers = [
    { key: `${SERVER} v4`, host: LOCAL, port: 1, weight: 1 },
    { key: `${SERVER} v6`, host: "::1", port: 1, weight: 1 },
  ];
  const { control } = await started(configOf(groupOf("a", 1, { servers })));
  expect([...control.servers().keys()]).toEqual([SERVER]);
});

test("names of servers are listed, and looked up again when they are dropped", async () => {
  const { port } = await startEcho();
  const servers = [{ key: SERVER, host: "localhost", port, weight: 1 }];
  const { control } = await started(configOf(groupOf("a", port, { servers })));
  const [entry, ...others] = await control.dnsCache();
  expect(others).toEqual([]);
  expect(entry).toMatchObject({ holder: "resolver", name: "localhost" });
  expect(entry?.addresses).toContain(LOCAL);
  expect(entry?.expiresInMs).toBeGreaterThan(0);
  expect(await control.dropDnsCache("resolver", "localhost")).toBe(true);
  expect((await control.dnsCache())[0]?.addresses).toContain(LOCAL);
  expect(await control.dropDnsCache("resolver", "nobody.example")).toBe(false);
});

test("names that a DNS listener keeps are listed by its key, and can be dropped", async () => {
  const resolver = createSocket("udp4").bind(0, LOCAL);
  await once(resolver, "listening");
  let asked = 0;
  resolver.on("message", (bytes, from) => {
    asked += 1;
    const { id = 0, questions = [] } = decode(bytes);
    const name = questions[0]?.name ?? "";
    const answers = [{ type: "A", name, ttl: 60, data: "198.51.100.7" }] as const;
    const reply = encode({ type: "response", id, flags: 0x0180, questions, answers: [...answers] });
    resolver.send(reply, from.port, from.address);
  });
  const client = createSocket("udp4").bind(0, LOCAL);
  await once(client, "listening");
  onTestFinished(() => {
    resolver.close();
    client.close();
  });
  const probe = await startEcho();
  await probe.stop();
  const address = ipAddress(LOCAL, probe.port);
  const listener = serviceListener({
    key: "default/dns0",
    address,
    mode: "dns",
    upstream: "default/u0",
    allowOthers: true,
    dns: {
      hosts: new Map(),
      forwardTo: [ipAddress(LOCAL, resolver.address().port)],
      ttlSeconds: 5,
    },
  });
  const { control } = await started({ listeners: [listener] });
  const lookUp = async (): Promise<void> => {
    const query = encode({
      type: "query",
      id: 7,
      flags: 0x0100,
      questions: [{ type: "A", name: "Other.example" }],
    });
    client.send(query, address.port, LOCAL);
    await once(client, "message");
  };
  await lookUp();
  expect(await control.dnsCache()).toEqual([
    {
      holder: "default/dns0",
      name: "other.example",
      addresses: ["198.51.100.7"],
      expiresInMs: 60_000,
    },
  ]);
  await lookUp();
  expect(asked).toBe(1);
  expect(await control.dropDnsCache("default/dns0", "other.example")).toBe(true);
  expect(await control.dropDnsCache("default/dns0", "other.example")).toBe(false);
  expect(await control.dnsCache()).toEqual([]);
  await lookUp();
  expect(asked).toBe(2);
});

test("with one loop on this thread, more are refused with the remedy", async () => {
  const { control } = await started({});
  expect(control.loopGroups()).toEqual([{ name: "worker", loops: ["main"], isDefault: true }]);
  await expect(control.addLoop("el0", "worker")).rejects.toMatchObject({
    code: "ERR_NOT_POSSIBLE_HERE",
  });
  await expect(control.addLoopGroup("elg0")).rejects.toThrow('the provider "posix"');
});
