import { expect, test } from "vitest";
import { securityGroupSchema } from "../../core/model/security-group.ts";
import { FakeStream } from "../../net/fake-stream.fixture.ts";
import { ipAddress, type SocketAddress } from "../../platform/socket-address.ts";
import { type ListenerConfig, PLAIN_LISTENER, type RedirectedAddress } from "../engine-config.ts";
import { UpstreamRuntime } from "../loop/upstream-runtime.ts";
import { CalledAddresses } from "./called-addresses.ts";

/** A client that called there before it was redirected. */
class RedirectedClient extends FakeStream {
  readonly #to: SocketAddress | undefined;

  constructor(to: SocketAddress | undefined) {
    super({});
    this.#to = to;
  }

  originalDestination(): SocketAddress | undefined {
    return this.#to;
  }
}

const UPSTREAMS = new Map(
  ["main", "own", "other"].map((key) => [
    key,
    new UpstreamRuntime({
      key,
      groupOf: () => undefined,
      random: () => 0,
      nowMs: () => 0,
      onStay: () => undefined,
    }),
  ]),
);
const upstreamOf = (key: string) => UPSTREAMS.get(key);
const WEB = ipAddress("10.96.0.10", 80);

const guard = securityGroupSchema.parse({
  kind: "SecurityGroup",
  name: "guard",
  defaultAccess: "deny",
  rules: [{ name: "r", network: "192.0.2.0/24", access: "allow", minPort: 80, maxPort: 80 }],
});

const REDIRECTED: RedirectedAddress = {
  address: WEB,
  upstream: "other",
  exceptions: [{ networks: ["192.0.2.1"], upstream: "own" }],
  access: guard,
};

function listener(more: Partial<ListenerConfig>): ListenerConfig {
  return {
    key: "front",
    address: ipAddress("127.0.0.1", 26_000),
    mode: "tcp",
    upstream: "main",
    proxyProtocol: { acceptFrom: [], send: "none" },
    access: undefined,
    idleTimeoutMs: 1,
    connectTimeoutMs: 1,
    inBufferBytes: 1,
    outBufferBytes: 1,
    allowOthers: false,
    ...PLAIN_LISTENER,
    ...more,
  };
}

test("a listener that nothing is redirected to is called at its own address", () => {
  const exceptions = [{ networks: ["192.0.2.0/24"], upstream: "own" }];
  const called = new CalledAddresses(listener({ exceptions }), upstreamOf);
  const own = called.of(new RedirectedClient(WEB));
  expect(own).toBe(called.own);
  expect(own?.upstream).toBe(upstreamOf("main"));
  expect(own?.upstreamFor(() => "198.51.100.1")).toBe(upstreamOf("main"));
  expect(own?.upstreamFor(() => "192.0.2.7")).toBe(upstreamOf("own"));
  expect(own?.allows(() => "198.51.100.1", "TCP")).toBe(true);
});

test("the text of a client's address is made only where it matters", () => {
  const called = new CalledAddresses(listener({}), upstreamOf).own;
  const refuse = (): string => {
    throw new Error("asked for");
  };
  expect(called.upstreamFor(refuse)).toBe(upstreamOf("main"));
  expect(called.allows(refuse, "TCP")).toBe(true);
});

test("redirected calls go by the address they were made to, with its access and exceptions", () => {
  const called = new CalledAddresses(listener({ redirected: [REDIRECTED] }), upstreamOf);
  const web = called.of(new RedirectedClient(WEB));
  expect(web?.upstreamFor(() => "192.0.2.9")).toBe(upstreamOf("other"));
  expect(web?.upstreamFor(() => "192.0.2.1")).toBe(upstreamOf("own"));
  expect(web?.allows(() => "192.0.2.9", "TCP")).toBe(true);
  expect(web?.allows(() => "198.51.100.1", "TCP")).toBe(false);
  expect(called.of(new RedirectedClient(WEB))).toBe(web);
});

test("nobody answers calls to another address, to the listener itself, or to one that is not known", () => {
  const called = new CalledAddresses(listener({ redirected: [REDIRECTED] }), upstreamOf);
  for (const to of [ipAddress("10.96.0.10", 81), ipAddress("127.0.0.1", 26_000), undefined]) {
    expect(called.of(new RedirectedClient(to))).toBeUndefined();
  }
  expect(called.of(new FakeStream({}))).toBeUndefined();
});
