import { expect, test } from "vitest";
import { PREFACE } from "../../wire/http2/protocol.ts";
import { SimulatedProxy, simulatedConfig } from "../loop/simulated-proxy.fixture.ts";
import { HANDSHAKE_PATIENCE_MS } from "../openings/opening.ts";

const SERVER = "10.0.1.1";
const REQUEST = "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n";
const ANSWER = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const IDLE_MS = 60_000;

function start(mode: "http" | "h2", idleTimeoutMs = IDLE_MS): SimulatedProxy {
  const proxy = new SimulatedProxy();
  proxy.serve("server", SERVER, (end) => {
    end.onBytes = () => void end.write(ANSWER);
  });
  proxy.apply(simulatedConfig([SERVER], { listener: { mode, idleTimeoutMs } }));
  return proxy;
}

test.each(["http", "h2"] as const)(
  "%s: the first request has to come soon, counted from the client's coming",
  (mode) => {
    const proxy = start(mode);
    const [silent, late, slow] = [proxy.dial(), proxy.dial(), proxy.dial()];
    const asking = proxy.dial();
    proxy.run(10);
    slow.write("GET / HTTP/1.1\r\n");
    asking.write(REQUEST);
    proxy.run(HANDSHAKE_PATIENCE_MS - 1000);
    if (mode === "h2") late.write(PREFACE.subarray(0, 3));
    proxy.run(900);
    expect([silent, late, slow].map(({ ended }) => ended)).toEqual(["", "", ""]);
    proxy.run(1000);
    expect([silent, late].map(({ ended }) => ended)).toEqual(["FIN", "FIN"]);
    expect(silent.text).toBe("");
    expect(slow.text).toMatch(/^HTTP\/1.1 408 /);
    expect(asking).toMatchObject({ text: ANSWER, ended: "" });
    proxy.run(IDLE_MS / 2);
    asking.write(REQUEST);
    proxy.run(IDLE_MS - 1000);
    expect(asking).toMatchObject({ text: `${ANSWER}${ANSWER}`, ended: "" });
    proxy.run(IDLE_MS);
    expect(asking.ended).toBe("FIN");
    expect(proxy.program.openCount).toBe(0);
    expect(proxy.errors).toEqual([]);
  },
);

test("idleness that is shorter than the patience with a head holds for answers, too", () => {
  const proxy = start("http", 2000);
  const [silent, asking] = [proxy.dial(), proxy.dial()];
  proxy.run(10);
  asking.write("GET / HTTP/1.1\r\n");
  proxy.run(1500);
  asking.write("Host: a.example\r\n\r\n");
  proxy.run(1000);
  expect([silent.ended, asking.ended]).toEqual(["FIN", ""]);
  proxy.run(3000);
  expect(asking).toMatchObject({ text: ANSWER, ended: "FIN" });
});
