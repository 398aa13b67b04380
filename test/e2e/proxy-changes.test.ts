import { describe, expect, test } from "vitest";
import { EMPTY_ENGINE_CONFIG, type EngineConfig } from "../../src/proxy/engine-config.ts";
import { requires } from "../support/requires.ts";
import { configOf, groupOf, listenerOf, serverOf, TCP_CHECK } from "./proxy-config.ts";
import { ask, dial, echo, greeter, readAll, startServer, TestEngine } from "./proxy-fixture.ts";
import { CLIENTS, startLoad } from "./proxy-load.ts";

describe("changes while running", requires("linux"), () => {
  test("servers, weights, methods, groups and checks change under load: not one request fails", async () => {
    const servers = await Promise.all([startServer(echo), startServer(echo), startServer(echo)]);
    const [a, b, c] = servers.map(({ port }) => serverOf(port));
    if (a === undefined || b === undefined || c === undefined) throw new Error("no servers");
    const proxy = await TestEngine.start({ loops: 2 });
    const base = configOf([]);
    const withGroup = (group: Parameters<typeof groupOf>[1], ...list: (typeof a)[]) => ({
      ...base,
      groups: [groupOf(list, group)],
    });
    await proxy.engine.apply(withGroup({}, a));
    const load = startLoad(proxy.port());
    const other = listenerOf({ key: "other", upstream: "other" });
    const steps: EngineConfig[] = [
      withGroup({}, a, b),
      withGroup({}, { ...a, weight: 5 }, b, c),
      withGroup({ method: "least-connections" }, a, b, c),
      withGroup({ method: "source-hash" }, { ...a, weight: 0 }, b, c),
      withGroup({ method: "random" }, b, c),
      withGroup({ method: "least-latency" }, c),
      withGroup({ healthCheck: TCP_CHECK }, c),
      withGroup({ healthCheck: TCP_CHECK }, c, a),
      withGroup({}, a),
      { ...withGroup({}, a), listeners: [...base.listeners, other] },
      { ...withGroup({}, a), listeners: [listenerOf({ idleTimeoutMs: 5000 })] },
    ];
    for (let round = 0; round < 3; round += 1) {
      for (const step of steps) {
        const before = load.served();
        await proxy.engine.apply(step);
        await proxy.until(() => load.served() > before + CLIENTS);
      }
    }
    expect(await load.stop()).toEqual([]);
    await proxy.until(({ listeners }) => listeners[0]?.connections === 0);
  });

  test("a listener that takes the place of another one loses nobody", async () => {
    const { port } = await startServer(echo);
    const proxy = await TestEngine.start({ loops: 2 });
    await proxy.engine.apply(configOf([port]));
    const listening = proxy.port();
    const address = { family: "v4", ip: "127.0.0.1", port: listening } as const;
    await proxy.engine.apply({ ...configOf([port]), listeners: [] });
    await proxy.engine.apply(configOf([port], { listener: { address } }));
    const load = startLoad(listening);
    for (const key of ["one", "two", "three"]) {
      const before = load.served();
      await proxy.engine.apply(configOf([port], { listener: { key, address } }));
      await proxy.until(() => load.served() > before + CLIENTS);
      expect(proxy.engine.stats().listeners.map((one) => one.key)).toEqual([key]);
    }
    expect(await load.stop()).toEqual([]);
  });

  test("connections outlive the server, the group and the listener that they came by", async () => {
    const { port } = await startServer(echo);
    const proxy = await TestEngine.start();
    await proxy.engine.apply(configOf([port]));
    const listening = proxy.port();
    const client = await dial(listening);
    await proxy.until(({ groups }) => groups[0]?.connections === 1);
    await proxy.engine.apply(EMPTY_ENGINE_CONFIG);
    client.end("still here");
    expect((await readAll(client)).toString()).toBe("still here");
    await expect(dial(listening)).rejects.toThrow("ECONNREFUSED");
  });

  test("a group that comes back begins anew in its statistics", async () => {
    const { port } = await startServer(greeter("x"));
    const proxy = await TestEngine.start({ loops: 2 });
    const config = configOf([port]);
    await proxy.engine.apply(config);
    await ask(proxy.port());
    await proxy.until(({ groups }) => groups[0]?.totalConnections === 1);
    await proxy.engine.apply({ ...config, groups: [] });
    await expect(ask(proxy.port())).rejects.toThrow("ECONNRESET");
    await proxy.engine.apply(config);
    expect(proxy.engine.stats().groups[0]?.totalConnections).toBe(0);
    expect(await ask(proxy.port())).toBe("x");
  });
});
