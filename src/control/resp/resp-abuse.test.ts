import { once } from "node:events";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { seededBytes, seededRandom } from "../../../test/support/seeded-random.ts";
import { startTestController, type TestController } from "./controller.fixture.ts";
import { arrayOf } from "./raw-client.fixture.ts";

/** The controller still answers, and nobody is left over but who asks. */
async function expectWell({ open, controller }: TestController): Promise<void> {
  const client = await open();
  expect(await client.ask("PING")).toBe("+PONG");
  client.socket.destroy();
  await once(client.socket, "close");
  expect(controller.connections()).toBeLessThanOrEqual(1);
}

/** Sends, waits for the end or for an answer, and goes. */
async function throwAt(port: number, bytes: Buffer): Promise<void> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  const closed = once(socket, "close");
  socket.resume();
  socket.end(bytes);
  await closed;
}

test("2,000 random byte strings are refused or answered, and nothing comes of them", async () => {
  const running = await startTestController();
  const random = seededRandom(91);
  const noise = seededBytes(92, 70_000);
  const framing = ["*1\r\n", "*2\r\n", "$3\r\n", "$-1\r\n", "*-1\r\n", "\r\n", "$99999\r\n", "*"];
  const thrown = async (): Promise<void> => {
    const start = Math.floor(random() * 60_000);
    const length = 1 + Math.floor(random() * (random() < 0.05 ? 9000 : 60));
    const part = noise.subarray(start, start + length);
    const prefix = framing[Math.floor(random() * framing.length * 2)] ?? "";
    await throwAt(running.port, Buffer.concat([Buffer.from(prefix), part]));
  };
  for (let round = 0; round < 40; round += 1) {
    await Promise.all(Array.from({ length: 50 }, thrown));
  }
  await expectWell(running);
  expect(running.control.given).toEqual([]);
  expect(running.logged.filter((line) => line.startsWith("error"))).toEqual([]);
}, 120_000);

test("1,000 idle connections, and one more that is served; beyond the limit it is said", async () => {
  const running = await startTestController({ limits: { maxConnections: 1001 } });
  const idle = await Promise.all(Array.from({ length: 1000 }, () => running.open()));
  const client = await running.open();
  expect(await client.ask("PING")).toBe("+PONG");
  expect(running.controller.connections()).toBe(1001);
  const refused = await running.open();
  expect(await refused.rest()).toMatch(/^-ERR ERR_REFUSED there are 1001 connections already/);
  expect(running.logged).toContain("warn: RESP: no more connections");
  const [first] = idle;
  first?.socket.destroy();
  // The place is free when the controller has heard of it, which nothing tells here.
  await expect.poll(() => running.controller.connections()).toBe(1000);
  expect(await (await running.open()).ask("PING")).toBe("+PONG");
});

test("an oversized message ends its connection before it is all there", async () => {
  const running = await startTestController();
  for (const bytes of [
    arrayOf("add", "upstream", "x".repeat(70_000)),
    `*1\r\n$${"9".repeat(9)}\r\n`,
    `*2000\r\n`,
    "y".repeat(200_000),
  ]) {
    const client = await running.open();
    client.send(bytes);
    expect(await client.rest()).toMatch(/^-ERR Protocol error: |^$/);
  }
  await expectWell(running);
  expect(running.control.given).toEqual([]);
});

test("a message in single bytes is read like any other", async () => {
  const running = await startTestController();
  const client = await running.open();
  for (const byte of Buffer.from(`${arrayOf("add", "upstream", "slowly")}list upstream\r\n`)) {
    client.send(Buffer.from([byte]));
    await new Promise((resolve) => setImmediate(resolve));
  }
  const expected = "+OK\r\n*1\r\n$6\r\nslowly\r\n";
  expect(await client.take(expected.length)).toBe(expected);
});

test("who never reads is not answered any more, and closed after a while", async () => {
  const limits = { stallTimeoutMs: 200 };
  const running = await startTestController({ limits });
  running.control.result = { kind: "text", text: "x".repeat(100_000) };
  const client = await running.open();
  client.socket.pause();
  const closed = once(client.socket, "close");
  client.send("man\r\n".repeat(2000));
  await expect.poll(() => running.controller.connections()).toBe(0);
  // Only as much as the kernel holds, and not two hundred megabytes.
  expect(running.control.given.length).toBeLessThan(500);
  client.socket.resume();
  await closed;
  await expectWell(running);
});

test("an answer that does not fit in what may wait closes its connection", async () => {
  const running = await startTestController({ limits: { maxBufferedBytes: 100_000 } });
  running.control.result = { kind: "text", text: "x".repeat(100_001) };
  const client = await running.open();
  client.send("man\r\n");
  expect(await client.rest()).toBe("");
  expect(running.logged.at(-1)).toMatch(/^warn: a RESP connection was closed: its answer/);
  running.control.result = undefined;
  await expectWell(running);
});

test("who is idle for too long is closed; a command may take longer", async () => {
  const running = await startTestController({ limits: { idleTimeoutMs: 50 } });
  const idle = await running.open();
  expect(await idle.rest()).toBe("");
  running.control.before = () => new Promise((resolve) => setTimeout(resolve, 150));
  const busy = await running.open();
  expect(await busy.ask("list upstream")).toBe("*0");
});

test("many commands of one client do not keep others waiting", async () => {
  const running = await startTestController();
  const greedy = await running.open();
  const modest = await running.open();
  greedy.send("ECHO x\r\n".repeat(20_000));
  expect(await modest.ask("PING")).toBe("+PONG");
  const expected = "$1\r\nx\r\n".repeat(20_000);
  expect(await greedy.take(expected.length)).toBe(expected);
});
