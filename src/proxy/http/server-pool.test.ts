import { expect, test } from "vitest";
import {
  type SimulatedEnd,
  SimulatedProxy,
  simulatedConfig,
} from "../loop/simulated-proxy.fixture.ts";

const SERVER = "10.0.1.1";
const REQUEST = "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n";
const answer = (text: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}`;

/** A proxy, and all connections to its server, which answers each with its number. */
function start() {
  const proxy = new SimulatedProxy();
  const servers: SimulatedEnd[] = [];
  proxy.serve("server", SERVER, (end) => {
    const number = servers.push(end);
    end.onBytes = () => void end.write(answer(String(number)));
  });
  proxy.apply(simulatedConfig([SERVER], { listener: { mode: "http" } }));
  return { proxy, servers };
}

function ask(proxy: SimulatedProxy): string {
  const client = proxy.dial();
  proxy.run(10);
  client.write(REQUEST);
  proxy.run(10);
  return client.text;
}

test("connections to servers are used again, by other clients, too", () => {
  const { proxy, servers } = start();
  expect([ask(proxy), ask(proxy)]).toEqual([answer("1"), answer("1")]);
  expect(servers).toHaveLength(1);
});

test("what a server says unasked is nobody's answer: its connection is not used again", () => {
  const { proxy, servers } = start();
  expect(ask(proxy)).toBe(answer("1"));
  servers[0]?.write(answer("poison"));
  proxy.run(10);
  expect(servers[0]?.ended).not.toBe("");
  expect(ask(proxy)).toBe(answer("2"));
  expect(proxy.errors).toEqual([]);
});

test("a connection that the server closes while it waits is not used again", () => {
  const { proxy, servers } = start();
  ask(proxy);
  servers[0]?.fd.close();
  proxy.run(10);
  expect(ask(proxy)).toBe(answer("2"));
});

test("one that nobody needs is closed before most servers do so", () => {
  const { proxy, servers } = start();
  ask(proxy);
  proxy.run(4500);
  expect(servers[0]?.ended).toBe("FIN");
});
