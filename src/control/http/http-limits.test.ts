import { once } from "node:events";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { seededBytes, seededRandom } from "../../../test/support/seeded-random.ts";
import { DONE } from "../result.ts";
import { TinyControl } from "../tiny-control.fixture.ts";
import { readAll, startTestController, type TestController } from "./http-controller.fixture.ts";

const FUZZ_SEED = 20;
const LIST = "/api/v1/module/tcp-lb";

async function expectWell(controller: TestController): Promise<void> {
  expect(await controller.ask("GET", "/healthz")).toMatchObject({ status: 200, text: "OK\n" });
}

test("a body that is too large is refused before it is read", async () => {
  const http = await startTestController(new TinyControl(), { limits: { maxBodyBytes: 1000 } });
  const body = { name: "x".repeat(2000) };
  expect(await http.ask("POST", LIST, { body })).toMatchObject({
    status: 413,
    json: { code: "ERR_USAGE", message: expect.stringContaining("1000 bytes") },
  });
  await expectWell(http);
});

test("so is one that does not say how large it is", async () => {
  const http = await startTestController(new TinyControl(), { limits: { maxBodyBytes: 1000 } });
  const socket = await http.open();
  socket.write(`POST ${LIST} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n`);
  socket.write("transfer-encoding: chunked\r\nconnection: close\r\n\r\n");
  for (let sent = 0; sent < 3; sent++) socket.write(`200\r\n${"x".repeat(0x200)}\r\n`);
  socket.write("0\r\n\r\n");
  expect(await readAll(socket)).toMatch(/^HTTP\/1\.1 413 /);
});

test("a client that waits for a word before it sends a body gets the refusal instead", async () => {
  const http = await startTestController(new TinyControl(), { limits: { maxBodyBytes: 1000 } });
  const head = `POST ${LIST} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nexpect: 100-continue\r\nconnection: close\r\n`;
  const refused = await http.open();
  refused.end(`${head}content-length: 5000\r\n\r\n`);
  expect(await readAll(refused)).toMatch(/^HTTP\/1\.1 413 /);
  const wanted = await http.open();
  wanted.write(`${head}content-length: 2\r\n\r\n`);
  const [word] = await once(wanted, "data");
  expect(String(word)).toMatch(/^HTTP\/1\.1 100 /);
  wanted.write("{}");
  expect(await readAll(wanted)).toMatch(/^HTTP\/1\.1 400 /);
});

test("a head that is too large is refused", async () => {
  const http = await startTestController(new TinyControl());
  const headers = { "x-long": "x".repeat(20_000) };
  expect((await http.ask("GET", LIST, { headers })).status).toBe(431);
  await expectWell(http);
});

test("a client that is too slow is refused, with its head and with its body", async () => {
  const limits = { headersTimeoutMs: 100, requestTimeoutMs: 200, checkIntervalMs: 20 };
  const http = await startTestController(new TinyControl(), { limits });
  const silent = await http.open();
  const slowHead = await http.open();
  slowHead.write("GET /healthz HTTP/1.1\r\nhost: local");
  const slowBody = await http.open();
  slowBody.write(
    `POST ${LIST} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"na`,
  );
  for (const socket of [silent, slowHead, slowBody]) {
    expect(await readAll(socket)).toMatch(/^HTTP\/1\.1 408 /);
  }
  await expectWell(http);
});

test("a connection between requests is closed after a while", async () => {
  const http = await startTestController(new TinyControl(), { limits: { keepAliveMs: 50 } });
  const socket = await http.open();
  socket.write("GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n");
  expect(await readAll(socket)).toMatch(/^HTTP\/1\.1 200 /);
});

test("1,000 connections that say nothing leave room for others", async () => {
  const http = await startTestController(new TinyControl());
  for (let batch = 0; batch < 10; batch++) {
    await Promise.all(Array.from({ length: 100 }, () => http.open()));
  }
  await expectWell(http);
  expect(http.controller.connections()).toBeGreaterThanOrEqual(1000);
});

test("beyond the limit connections are closed, and the log says so once", async () => {
  const http = await startTestController(new TinyControl(), { limits: { maxConnections: 5 } });
  const open = await Promise.all(Array.from({ length: 5 }, () => http.open()));
  for (let extra = 0; extra < 3; extra++) {
    const socket = connect(http.port, "127.0.0.1");
    socket.on("error", () => undefined);
    await once(socket, "close");
  }
  expect(http.log.filter(({ message }) => message.includes("no more connections"))).toHaveLength(1);
  const closed = open.map((socket) => once(socket, "close"));
  for (const socket of open) socket.destroy();
  await Promise.all(closed);
  await expect.poll(() => http.controller.connections()).toBe(0);
  await expectWell(http);
});

test("whoever has not shown the token takes no place from those who have it", async () => {
  const limits = { maxConnections: 2, wrongTokenDelayMs: 1 };
  const http = await startTestController(new TinyControl(), { token: "secret", limits });
  const ask = (token: string): string =>
    `GET ${LIST} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\n\r\n`;
  const friend = await http.open();
  friend.write(ask("secret"));
  expect(String((await once(friend, "data"))[0])).toMatch(/^HTTP\/1\.1 200 /);
  const guesser = await http.open();
  guesser.write(ask("guess"));
  expect(String((await once(guesser, "data"))[0])).toMatch(/^HTTP\/1\.1 401 /);
  const guesserGone = once(guesser, "close");
  const silent = await http.open();
  await guesserGone;
  const second = await http.open();
  expect(await readAll(silent)).toBe("");
  second.write(ask("secret"));
  expect(String((await once(second, "data"))[0])).toMatch(/^HTTP\/1\.1 200 /);
  await once(await http.open(), "close");
  friend.write(ask("secret"));
  expect(String((await once(friend, "data"))[0])).toMatch(/^HTTP\/1\.1 200 /);
  expect(http.controller.connections()).toBe(2);
});

test("requests in work are bounded", async () => {
  const control = new TinyControl();
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  control.before = () => released;
  const http = await startTestController(control, { limits: { maxInWork: 2 } });
  const waiting = [http.ask("GET", LIST), http.ask("GET", LIST)];
  await expect.poll(() => control.given.length).toBe(2);
  expect(await http.ask("GET", LIST)).toMatchObject({
    status: 503,
    headers: { "retry-after": "1" },
    json: { code: "ERR_REFUSED" },
  });
  await expectWell(http);
  release();
  for (const { status } of await Promise.all(waiting)) expect(status).toBe(200);
  expect((await http.ask("GET", LIST)).status).toBe(200);
});

test("whoever goes away while its command runs leaves its place to others", async () => {
  const control = new TinyControl();
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  control.before = () => released;
  const http = await startTestController(control, { limits: { maxInWork: 1 } });
  const socket = await http.open();
  socket.write(`GET ${LIST} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
  await expect.poll(() => control.given.length).toBe(1);
  socket.destroy();
  const half = await http.open();
  half.write(
    `POST ${LIST} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{`,
  );
  half.destroy();
  release();
  await expect.poll(async () => (await http.ask("GET", LIST)).status).toBe(200);
});

test("what was asked before the controller closes is answered", async () => {
  const control = new TinyControl();
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  control.before = () => released;
  control.result = DONE;
  const http = await startTestController(control);
  const answer = http.ask("DELETE", `${LIST}/lb0`);
  await expect.poll(() => control.given.length).toBe(1);
  const closed = http.controller.close();
  release();
  expect((await answer).status).toBe(204);
  await closed;
  await expect(http.ask("GET", "/healthz")).rejects.toThrow("ECONNREFUSED");
});

test("a command that never ends does not keep the controller open", async () => {
  const control = new TinyControl();
  control.before = () => new Promise(() => undefined);
  const http = await startTestController(control, { limits: { closeGraceMs: 50 } });
  const answer = http.ask("GET", LIST);
  await expect.poll(() => control.given.length).toBe(1);
  await Promise.all([http.controller.close(), expect(answer).rejects.toThrow("socket hang up")]);
});

test("random bytes are refused or end the connection; the controller answers on", async () => {
  const http = await startTestController(new TinyControl(), { token: "secret" });
  const random = seededRandom(FUZZ_SEED);
  for (let batch = 0; batch < 50; batch++) {
    await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        const socket = await http.open();
        const size = Math.floor(random() * 200);
        socket.end(seededBytes(batch * 1000 + index, size));
        const answer = await readAll(socket);
        expect(answer === "" || /^HTTP\/1\.1 4\d\d /.test(answer), answer).toBe(true);
      }),
    );
  }
  await expectWell(http);
});

test("random requests get an answer of the API, never a fault", async () => {
  const http = await startTestController(new TinyControl());
  const random = seededRandom(FUZZ_SEED);
  const pick = <T>(list: readonly [T, ...T[]]): T =>
    list[Math.floor(random() * list.length)] ?? list[0];
  const words = [
    "module",
    "tcp-lb",
    "server-group",
    "%2e",
    "..",
    "%00",
    "detail",
    "all",
    "command",
    "-",
    "a b",
    "é",
    "%F0%9F%8C%8D",
    "?force=true",
    "?x=%zz",
    "#",
    "//",
    "healthz",
  ] as const;
  const bodies = [
    undefined,
    "",
    "{}",
    "[]",
    "null",
    '{"name":1}',
    '{"name":"x","address":[[]]}',
    '{"command":"list tcp-lb"}',
    '{"command":"add"}',
    "\u0000",
    '{"__proto__":{"a":"b"}}',
    "[".repeat(50_000),
  ] as const;
  for (let batch = 0; batch < 100; batch++) {
    await Promise.all(
      Array.from({ length: 25 }, async () => {
        const path = Array.from({ length: Math.floor(random() * 5) }, () => encodeURI(pick(words)));
        const method = pick(["GET", "POST", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS"]);
        const body = pick(bodies);
        const { status } = await http.ask(method, `/api/v1/${path.join("/")}`, { body });
        expect([200, 201, 204, 400, 404, 405]).toContain(status);
      }),
    );
  }
  expect(http.log.filter(({ level }) => level === "error")).toEqual([]);
  await expectWell(http);
});
