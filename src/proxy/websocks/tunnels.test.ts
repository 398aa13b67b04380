import { expect, test } from "vitest";
import { MemoryHosts } from "../../net/memory/memory-host.ts";
import { MemoryProvider } from "../../net/memory/memory-provider.ts";
import { SimulatedNetwork } from "../../net/memory/simulated-network.ts";
import { NetEventLoop } from "../../net/net-event-loop.ts";
import { ipAddress } from "../../platform/socket-address.ts";
import { PlainTarget } from "../relay/dial-targets.ts";
import { Tunnels } from "./tunnels.ts";

/** One of the servers of an agent, with how many connections are counted for it. */
class CountedTarget extends PlainTarget {
  open = 0;

  override get key(): string {
    return "default/agent/tunnel.example:80";
  }

  override opened(): void {
    this.open += 1;
  }

  override closed(): void {
    this.open -= 1;
  }
}

test("connections that are kept ready are counted for the server that is there now", () => {
  const network = new SimulatedNetwork({ seed: 1 });
  const host = new MemoryHosts(network).add("a", ["10.0.0.1"]);
  const onError = (error: unknown): void => {
    throw error;
  };
  const net = new NetEventLoop({ provider: new MemoryProvider(host), onError });
  net.loop.start();
  const url = { isSecure: false, user: "u", host: "tunnel.example", port: 80, path: "/" };
  const servers = new Map([["tunnel.example:80", url]]);
  const ignore = (): void => undefined;
  const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
  const tunnels = new Tunnels(
    { net, log, sessions: new Set(), isDraining: false, resolve: () => undefined },
    {
      config: { servers, password: "secret", caPem: "", rules: [], poolSize: 2 },
      caller: undefined,
      nowMs: () => 0,
      listener: "default/agent",
      linkTimeoutMs: 1000,
      bufferBytes: 4096,
    },
  );
  const address = ipAddress("10.0.0.1", 80);
  // Somebody who takes connections, and never answers.
  const server = net.provider.listen(address, { backlog: 16 });
  const [before, after] = [new CountedTarget(address), new CountedTarget(address)];
  for (const target of [before, after]) {
    const called = tunnels.serverOf(target);
    if (called !== undefined) tunnels.poolOf(target, called)?.take();
    network.clock.advance(10);
    expect(target.open).toBe(2);
  }
  expect(before.open).toBe(0);
  tunnels.close();
  expect(after.open).toBe(0);
  server.close();
  net.loop.close();
});
