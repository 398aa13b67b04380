import { expect, test } from "vitest";
import { parseTargetRule } from "../../core/model/target-rules.ts";
import { ACCESS_WORDS } from "../../core/model/websocks.ts";
import { FakeStream } from "../../net/fake-stream.fixture.ts";
import type { StreamFd } from "../../net/fd.ts";
import { MemoryHosts } from "../../net/memory/memory-host.ts";
import { MemoryProvider } from "../../net/memory/memory-provider.ts";
import { SimulatedNetwork } from "../../net/memory/simulated-network.ts";
import { NetEventLoop } from "../../net/net-event-loop.ts";
import { ERRNO, errnoName } from "../../platform/errno.ts";
import { ipAddress, type SocketAddress } from "../../platform/socket-address.ts";
import { AllowedTargets } from "../websocks/allowed-targets.ts";
import { Dial } from "./dial.ts";
import { type DialTarget, type DialTargets, ListTargets } from "./dial-targets.ts";

const SERVERS = [1, 2, 3, 4, 5];
const CONNECT_TIMEOUT_MS = 1000;

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

/** Connects within the simulated network, unless the system is said to refuse with that errno. */
class RefusingProvider extends MemoryProvider {
  refusal = 0;
  readonly opened: StreamFd[] = [];

  override connect(to: SocketAddress): StreamFd {
    const fd = this.refusal < 0 ? new UnopenedStream(this.refusal) : super.connect(to);
    this.opened.push(fd);
    return fd;
  }
}

/** A dial to five servers, port 1 to 5, and what it told whom. */
function setting(within: (targets: DialTargets) => DialTargets = (targets) => targets) {
  const network = new SimulatedNetwork({ seed: 3 });
  const provider = new RefusingProvider(new MemoryHosts(network).add("a", ["10.0.0.1"]));
  const net = new NetEventLoop({
    provider,
    onError: (error) => {
      throw error;
    },
  });
  net.loop.start();
  const told: string[] = [];
  const targetOf = (port: number): DialTarget => ({
    key: String(port),
    address: ipAddress("10.0.0.1", port),
    opened: () => void told.push(`${port} opened`),
    closed: () => void told.push(`${port} closed`),
    connected: () => void told.push(`${port} connected`),
    tookMs: () => undefined,
    failed: (result) => void told.push(`${port} failed ${errnoName(result)}`),
    moved: () => undefined,
  });
  const dial = new Dial(net, within(new ListTargets(SERVERS.map(targetOf))), {
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    bufferBytes: 1024,
    handler: {
      listener: "web",
      dialed: (_, target) => void told.push(`dialed ${JSON.stringify(target.address)}`),
      dialFailed: (result) => void told.push(`gave up ${errnoName(result)}`),
    },
  });
  return { network, provider, dial, told };
}

/** What is told of a server that did not take the connection. */
function failureOf(port: number, reason: string): readonly string[] {
  return [`${port} opened`, `${port} closed`, `${port} failed ${reason}`];
}

test("a server that refuses is passed by", () => {
  const { network, provider, dial, told } = setting();
  const address = ipAddress("10.0.0.1", 2);
  provider.listen(address, { backlog: 1 });
  dial.start();
  network.clock.advance(10);
  const success = ["2 opened", "2 connected", `dialed ${JSON.stringify(address)}`];
  expect(told).toEqual([...failureOf(1, "ECONNREFUSED"), ...success]);
});

test("where rules leave none of the addresses of a name, that is what is told", () => {
  const rule = parseTargetRule("deny 10.0.0.0/8", ACCESS_WORDS);
  if (rule === undefined) throw new Error("no rule");
  const wanted = { host: "a.example", isName: true, port: 80 };
  const { dial, told } = setting((targets) => new AllowedTargets(targets, [rule], wanted));
  dial.start();
  expect(told).toEqual(["gave up EACCES"]);
});

test("three servers are tried, not more", () => {
  const { network, provider, dial, told } = setting();
  dial.start();
  network.clock.advance(10 * CONNECT_TIMEOUT_MS);
  expect(told).toEqual([
    ...[1, 2, 3].flatMap((port) => failureOf(port, "ECONNREFUSED")),
    "gave up ECONNREFUSED",
  ]);
  expect(provider.opened.every((fd) => fd.isClosed)).toBe(true);
});

test.each(["EMFILE", "ENFILE", "ENOBUFS", "ENOMEM", "EADDRNOTAVAIL"] as const)(
  "%s is no fault of the server: it does not count, and no other is tried",
  (name) => {
    const { provider, dial, told } = setting();
    provider.refusal = -ERRNO[name];
    dial.start();
    expect(told).toEqual(["1 opened", "1 closed", `gave up ${name}`]);
    expect(provider.opened.map((fd) => fd.isClosed)).toEqual([true]);
  },
);

test("other errors at the start count, and another server is tried", () => {
  const { provider, dial, told } = setting();
  provider.refusal = -ERRNO.ENETUNREACH;
  dial.start();
  expect(told).toEqual([
    ...[1, 2, 3].flatMap((port) => failureOf(port, "ENETUNREACH")),
    "gave up ENETUNREACH",
  ]);
});
