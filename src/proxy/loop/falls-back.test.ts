import { streamDecode, streamEncode } from "dns-packet";
import { expect, test } from "vitest";
import type { ListenerMode } from "../../core/model/listener.ts";
import { NO_HINTS } from "../../core/model/route-hints.ts";
import type { EngineConfig } from "../engine-config.ts";
import { type SimulatedEnd, SimulatedProxy, simulatedConfig } from "./simulated-proxy.fixture.ts";

const OTHER = "10.0.1.1";
const HOST = "a.example";
const REQUEST = `GET / HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`;

/** `a.example` leads to a group without servers; beside it there is one that has a server. */
function configOf(mode: ListenerMode, fallsBack: boolean, affinitySeconds = 0): EngineConfig {
  const dns = { hosts: new Map<string, readonly string[]>(), forwardTo: [], ttlSeconds: 5 };
  const config = simulatedConfig([OTHER], { listener: { mode, fallsBack, dns } });
  return {
    ...config,
    upstreams: [
      {
        key: "web",
        groups: [
          { group: "named", weight: 1, hints: { ...NO_HINTS, host: HOST } },
          { group: "web", weight: 1, hints: NO_HINTS },
        ],
        affinitySeconds,
      },
    ],
    groups: [
      ...config.groups,
      ...config.groups.map((group) => ({ ...group, key: "named", servers: [] })),
    ],
  };
}

/** SOCKS5 without a password: the greeting, and then CONNECT by name. */
function sayWanted(client: SimulatedEnd): void {
  client.write(Uint8Array.of(5, 1, 0));
  const name = Buffer.from(HOST);
  client.write(Buffer.concat([Uint8Array.of(5, 1, 0, 3, name.length), name, Uint8Array.of(0, 80)]));
}

function call(proxy: SimulatedProxy, mode: ListenerMode): SimulatedEnd {
  const client = proxy.dial();
  proxy.run(10);
  if (mode === "socks5") sayWanted(client);
  client.write(REQUEST);
  proxy.run(1000);
  return client;
}

test.each<ListenerMode>(["tcp", "http", "socks5"])(
  "%s: the listener says whether a group without servers is passed over",
  (mode) => {
    const proxy = new SimulatedProxy();
    const taken: SimulatedEnd[] = [];
    proxy.serve("other", OTHER, (end) => taken.push(end));
    proxy.apply(configOf(mode, false));
    const refused = call(proxy, mode);
    expect(taken).toEqual([]);
    expect(refused.ended).not.toBe("");
    // Without restarting the listener.
    proxy.apply(configOf(mode, true));
    call(proxy, mode);
    expect(taken.map(({ text }) => text)).toEqual([expect.stringContaining(`Host: ${HOST}`)]);
    expect(proxy.errors).toEqual([]);
  },
);

test.each([
  [false, "SERVFAIL", []],
  [true, "NOERROR", [OTHER]],
])("dns: with %s a name without servers is answered with %s %j", (fallsBack, rcode, ips) => {
  const proxy = new SimulatedProxy();
  proxy.apply(configOf("dns", fallsBack));
  const client = proxy.dial();
  const heard: Buffer[] = [];
  client.onBytes = (bytes) => heard.push(bytes);
  proxy.run(10);
  client.write(streamEncode({ type: "query", questions: [{ type: "A", name: HOST }] }));
  proxy.run(1000);
  const answer = streamDecode(Buffer.concat(heard));
  expect(answer).toMatchObject({ rcode });
  expect(answer.answers?.map((one) => ("data" in one ? one.data : ""))).toEqual(ips);
});

test("a client does not stay with a server of a group that it does not ask for", () => {
  const proxy = new SimulatedProxy();
  const taken: SimulatedEnd[] = [];
  proxy.serve("other", OTHER, (end) => taken.push(end));
  proxy.apply(configOf("tcp", false, 60));
  const client = proxy.dial();
  proxy.run(10);
  client.write("GET / HTTP/1.1\r\nHost: b.example\r\n\r\n");
  proxy.run(10);
  expect(taken.length).toBe(1);
  call(proxy, "tcp");
  expect(taken.length).toBe(1);
});
