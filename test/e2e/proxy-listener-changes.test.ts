import { once } from "node:events";
import { Agent, request } from "node:http";
import type { Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { NO_HINTS } from "../../src/core/model/route-hints.ts";
import type { SecurityGroup } from "../../src/core/model/security-group.ts";
import type { EngineConfig, ListenerConfig } from "../../src/proxy/engine-config.ts";
import { requires } from "../support/requires.ts";
import { configOf, groupOf, LOCAL, listenerOf, serverOf } from "./proxy-config.ts";
import { ask, dial, echo, greeter, readAll, startServer, TestEngine } from "./proxy-fixture.ts";
import { dialH2, named, send, startH2, startHttp1 } from "./proxy-h2-fixture.ts";
import { Authority, dialTls, shownName, tlsConfigOf } from "./proxy-tls-fixture.ts";

const NOBODY: SecurityGroup = {
  kind: "SecurityGroup",
  namespace: "default",
  name: "nobody",
  labels: {},
  annotations: {},
  defaultAccess: "deny",
  rules: [],
};

/** A listener before one upstream with one server, both called by the server's name. */
function leadTo(name: string, port: number, listener: Partial<ListenerConfig> = {}): EngineConfig {
  const groups = [{ group: name, weight: 1, hints: NO_HINTS }];
  return {
    listeners: [listenerOf({ upstream: name, ...listener })],
    upstreams: [{ key: name, affinitySeconds: 0, groups }],
    groups: [groupOf([serverOf(port)], { key: name })],
    certificates: [],
  };
}

async function said(socket: Socket, text: string): Promise<string> {
  socket.write(text);
  return String((await once(socket, "data"))[0]);
}

/** A client of HTTP with one connection that stays. */
function createCaller(port: number): (path?: string) => Promise<string> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  return async (path = "/") => {
    const asked = request({ host: LOCAL, port, agent, path }).end();
    const [response] = await once(asked, "response");
    const parts: Buffer[] = [];
    response.on("data", (part: Buffer) => parts.push(part));
    await once(response, "end");
    return Buffer.concat(parts).toString();
  };
}

function http1(name: string): Promise<number> {
  return startHttp1((message, response) => {
    message.resume();
    response.end(name);
  });
}

const PROVIDERS = [
  { provider: "posix", loops: 1 },
  { provider: "node", loops: 1 },
] as const;

describe.each(PROVIDERS)(
  "a listener that is changed, with $provider",
  requires("linux"),
  (options) => {
    test("upstream, time-outs, buffers and access are for who comes; who is there stays", async () => {
      const [a, b] = [await startServer(echo), await startServer(greeter("b"))];
      const proxy = await TestEngine.start(options);
      await proxy.engine.apply(leadTo("a", a.port));
      const at = proxy.port();
      const open = await dial(at);
      expect(await said(open, "one")).toBe("one");
      await proxy.engine.apply(leadTo("b", b.port));
      expect(await ask(at)).toBe("b");
      expect(await said(open, "two")).toBe("two");
      const other = { idleTimeoutMs: 100, inBufferBytes: 512, outBufferBytes: 1024 };
      await proxy.engine.apply(leadTo("a", a.port, other));
      const idle = await dial(at);
      const cut = new Promise<void>((resolve) => void idle.once("close", resolve));
      expect(await said(idle, "three")).toBe("three");
      await cut;
      const long = "x".repeat(100_000);
      expect(await ask(at, long)).toBe(long);
      expect(await said(open, "four")).toBe("four");
      await proxy.engine.apply(leadTo("a", a.port, { access: NOBODY }));
      await expect(ask(at)).rejects.toThrow("ECONNRESET");
      expect(await said(open, "five")).toBe("five");
      expect(proxy.port()).toBe(at);
      open.end();
      await readAll(open);
    });

    test("HTTP: the next request on a connection that is open goes by what the listener is then", async () => {
      const [a, b] = [await http1("a"), await http1("b")];
      const proxy = await TestEngine.start(options);
      const listener = { mode: "http" } as const;
      await proxy.engine.apply(leadTo("a", a, listener));
      const call = createCaller(proxy.port());
      expect(await call()).toBe("a");
      // What it was led to is gone.
      await proxy.engine.apply(leadTo("b", b, listener));
      expect(await call()).toBe("b");
      expect(proxy.engine.stats().listeners[0]).toMatchObject({ totalConnections: 1, failures: 0 });
      await proxy.engine.apply(leadTo("b", b, { ...listener, access: NOBODY }));
      await expect(call()).rejects.toThrow();
    });

    test("HTTP/2: clients are asked to leave, and what they ask for meanwhile is answered", async () => {
      const [a, b] = [await startH2(named("a")), await startH2(named("b"))];
      const proxy = await TestEngine.start(options);
      const listener = { mode: "h2" } as const;
      await proxy.engine.apply(leadTo("a", a, listener));
      const client = await dialH2(proxy.port());
      expect((await send(client)).body).toBe("a");
      const left = once(client, "goaway");
      await proxy.engine.apply(leadTo("b", b, listener));
      await left;
      expect((await send(await dialH2(proxy.port()))).body).toBe("b");
    });

    test("a client that has not said yet what it wants is led by what the listener is then", async () => {
      const [a, b] = [await startServer(echo), await startServer(echo)];
      const hinted = (name: string, port: number): EngineConfig => {
        const groups = [{ group: name, weight: 1, hints: { ...NO_HINTS, host: "x.example" } }];
        return { ...leadTo(name, port), upstreams: [{ key: name, affinitySeconds: 0, groups }] };
      };
      const proxy = await TestEngine.start(options);
      await proxy.engine.apply(hinted("a", a.port));
      const client = await dial(proxy.port());
      await proxy.until(({ listeners }) => listeners[0]?.connections === 1);
      await proxy.engine.apply(hinted("b", b.port));
      client.end("GET / HTTP/1.1\r\nHost: x.example\r\n\r\n");
      expect((await readAll(client)).toString()).toContain("x.example");
      expect(proxy.engine.stats().groups[0]).toMatchObject({ key: "b", totalConnections: 1 });
    });

    test("the mode changes on the same socket", async () => {
      const port = await http1("web");
      const proxy = await TestEngine.start(options);
      await proxy.engine.apply(leadTo("a", port));
      const at = proxy.port();
      const open = await dial(at);
      open.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
      await once(open, "data");
      for (const mode of ["http", "h2", "tcp"] as const) {
        await proxy.engine.apply(leadTo("a", port, { mode }));
        expect(await createCaller(at)()).toBe("web");
      }
      open.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
      await once(open, "data");
      expect(proxy.port()).toBe(at);
    });
  },
);

describe("a listener whose change fails", requires("linux"), () => {
  test("goes on as it was, and takes the next change", async () => {
    const { port } = await startServer(echo);
    const proxy = await TestEngine.start();
    const authority = await Authority.create();
    const [before, after] = [await authority.issue(["before"]), await authority.issue(["after"])];
    await proxy.engine.apply(tlsConfigOf([port], [before]));
    const at = proxy.port();
    const broken = { certPem: after.certPem, keyPem: before.keyPem };
    await expect(proxy.engine.apply(tlsConfigOf([port], [broken]))).rejects.toMatchObject({
      code: "ERR_LISTEN",
    });
    expect(shownName(await dialTls(at))).toBe("before");
    expect(proxy.port()).toBe(at);
    // Also where it would have become another kind of entrance.
    const asHttp = tlsConfigOf([port], [broken], { listener: { mode: "http" } });
    await expect(proxy.engine.apply(asHttp)).rejects.toMatchObject({ code: "ERR_LISTEN" });
    expect(shownName(await dialTls(at))).toBe("before");
    await proxy.engine.apply(tlsConfigOf([port], [before]));
    expect(shownName(await dialTls(at))).toBe("before");
    await proxy.engine.apply(tlsConfigOf([port], [after]));
    expect(shownName(await dialTls(at))).toBe("after");
  });
});

/** Clients of HTTP, with connections that stay and with such that do not, until they are stopped. */
function startCallers(port: number): { answered(): number; stop(): Promise<readonly string[]> } {
  let isOver = false;
  let answered = 0;
  const failures: string[] = [];
  const callers = Array.from({ length: 12 }, async (_, index) => {
    let call = createCaller(port);
    while (!isOver) {
      const answer = await call().catch(String);
      if (answer === "a" || answer === "b") answered += 1;
      else failures.push(answer);
      if (index % 3 === 0) call = createCaller(port);
    }
  });
  const stop = async (): Promise<readonly string[]> => {
    isOver = true;
    await Promise.all(callers);
    return failures;
  };
  return { answered: () => answered, stop };
}

describe("HTTP clients that keep their connections", requires("linux"), () => {
  test("lose no request, whatever is changed", async () => {
    const [a, b] = [await http1("a"), await http1("b")];
    const proxy = await TestEngine.start({ loops: 2 });
    const { loops } = proxy.engine;
    await loops.addGroup("back");
    await loops.add("back");
    const http = { mode: "http" } as const;
    const anybody: SecurityGroup = { ...NOBODY, defaultAccess: "allow" };
    const steps: readonly EngineConfig[] = [
      leadTo("a", a, http),
      leadTo("b", b, http),
      leadTo("b", b, { ...http, access: anybody }),
      leadTo("a", a, { ...http, idleTimeoutMs: 30_000, inBufferBytes: 1024 }),
      leadTo("a", a, { mode: "h2" }),
      leadTo("a", a, { ...http, workLoops: "back" }),
      leadTo("a", a, { ...http, acceptLoops: "worker", workLoops: "back" }),
      leadTo("b", b, { ...http, acceptLoops: "back" }),
      leadTo("b", b, { ...http, key: "other" }),
    ];
    const [first] = steps;
    if (first === undefined) throw new Error("there are steps");
    await proxy.engine.apply(first);
    const address = { family: "v4", ip: LOCAL, port: proxy.port() } as const;
    const fixed = (config: EngineConfig): EngineConfig => ({
      ...config,
      listeners: config.listeners.map((listener) => ({ ...listener, address })),
    });
    await proxy.engine.apply({ ...first, listeners: [] });
    await proxy.engine.apply(fixed(first));
    const callers = startCallers(address.port);
    for (let round = 0; round < 3; round += 1) {
      for (const step of steps) {
        await proxy.engine.apply(fixed(step));
        const before = callers.answered();
        await proxy.until(() => callers.answered() > before + 12);
      }
    }
    expect(await callers.stop()).toEqual([]);
  });

  test("lose no request when their loop is removed", async () => {
    const port = await http1("a");
    const proxy = await TestEngine.start();
    await proxy.engine.apply(configOf([port], { listener: { mode: "http" } }));
    const callers = startCallers(proxy.port());
    for (let round = 1; round <= 2; round += 1) {
      await proxy.engine.loops.add("worker", `next-${round}`);
      await proxy.engine.loops.remove(round === 1 ? "worker-1" : "next-1");
      const before = callers.answered();
      await proxy.until(() => callers.answered() > before + 20);
    }
    expect(await callers.stop()).toEqual([]);
  });
});
