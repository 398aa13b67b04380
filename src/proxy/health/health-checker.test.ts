import { expect, test } from "vitest";
import { groupSchema } from "../../core/model/group.ts";
import { FakeStream } from "../../net/fake-stream.fixture.ts";
import type { StreamFd } from "../../net/fd.ts";
import { MemoryHosts } from "../../net/memory/memory-host.ts";
import { MemoryProvider } from "../../net/memory/memory-provider.ts";
import { SimulatedNetwork } from "../../net/memory/simulated-network.ts";
import { NetEventLoop } from "../../net/net-event-loop.ts";
import { ERRNO } from "../../platform/errno.ts";
import { ipAddress, type SocketAddress } from "../../platform/socket-address.ts";
import { ServerGroup } from "../server-group.ts";
import { HealthChecker } from "./health-checker.ts";

const AT = ipAddress("10.0.0.1", 80);
const INTERVAL_MS = 100;

/** A stream that can not even begin to connect. */
class UnopenedStream extends FakeStream {
  readonly #result: number;

  constructor(result: number) {
    super({});
    this.#result = result;
  }

  override finishOpen(): number {
    return this.#result;
  }
}

class RefusingProvider extends MemoryProvider {
  refusal = 0;

  override connect(to: SocketAddress): StreamFd {
    return this.refusal < 0 ? new UnopenedStream(this.refusal) : super.connect(to);
  }
}

/** A server that is checked, and what was told of it. */
function setting() {
  const network = new SimulatedNetwork({ seed: 3 });
  const provider = new RefusingProvider(new MemoryHosts(network).add("a", ["10.0.0.1"]));
  const net = new NetEventLoop({
    provider,
    onError: (error) => {
      throw error;
    },
  });
  net.loop.start();
  const check = {
    protocol: "tcp",
    intervalMs: INTERVAL_MS,
    timeoutMs: INTERVAL_MS,
    up: 1,
    down: 1,
  };
  const { healthCheck } = groupSchema.parse({ kind: "Group", name: "g", healthCheck: check });
  const told: string[] = [];
  const checker = new HealthChecker(net, (_, edge, reason) =>
    told.push(`${edge} ${reason}`.trim()),
  );
  const group = {
    healthCheck,
    idOf: () => ({ group: "g", member: "a", address: "10.0.0.1", port: 80 }),
    addressOf: () => AT,
    checked: () => undefined,
  };
  const servers = new ServerGroup({
    method: "round-robin",
    slowStartMs: 0,
    random: () => 0.5,
    startsHealthy: false,
    onAdded: (server) => checker.added(group, server),
    onRemoved: (server) => checker.removed(group, server),
  });
  provider.listen(AT, { backlog: 100 });
  servers.put({ id: "a", addresses: ["10.0.0.1"], port: 80, weight: 1 }, 0);
  const wait = (): void => network.clock.advance(5 * INTERVAL_MS);
  wait();
  return { provider, told, wait };
}

test.each(["EMFILE", "ENFILE", "ENOBUFS", "ENOMEM"] as const)(
  "%s of this process says nothing about a server",
  (name) => {
    const { provider, told, wait } = setting();
    provider.refusal = -ERRNO[name];
    wait();
    expect(told).toEqual(["up"]);
  },
);

test("what is wrong with a server does", () => {
  const { provider, told, wait } = setting();
  provider.refusal = -ERRNO.ENETUNREACH;
  wait();
  provider.refusal = 0;
  wait();
  expect(told).toEqual(["up", "down ENETUNREACH", "up"]);
});
