import { once } from "node:events";
import type { Socket } from "node:net";
import { expect, test } from "vitest";
import type { HealthEvent } from "../control.ts";
import { TinyControl } from "../tiny-control.fixture.ts";
import { startTestController, type TestController } from "./http-controller.fixture.ts";

const PATH = "/api/v1/watch/server-group/-/server/-/health-check";
const DOWN: HealthEvent = {
  serverGroup: "g0",
  server: "s1",
  address: "10.0.0.1:80",
  health: "down",
  reason: "refused",
};

class TellingControl extends TinyControl {
  readonly listeners = new Set<(event: HealthEvent) => void>();

  override onHealth(listener: (event: HealthEvent) => void = () => undefined): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  tell(event: HealthEvent): void {
    for (const listener of this.listeners) listener(event);
  }
}

/** One that watches, and what it has read. */
class Watcher {
  readonly socket: Socket;
  text = "";

  constructor(socket: Socket) {
    this.socket = socket;
    socket.setEncoding("utf8");
    socket.on("data", (chunk) => {
      this.text += String(chunk);
    });
  }

  async until(part: string): Promise<void> {
    while (!this.text.includes(part)) await once(this.socket, "data");
  }
}

async function watch(http: TestController): Promise<Watcher> {
  const watcher = new Watcher(await http.open());
  watcher.socket.write(`GET ${PATH} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
  await watcher.until(": watching");
  return watcher;
}

test("everybody who watches is told, and none is left behind", async () => {
  const control = new TellingControl();
  const http = await startTestController(control);
  expect(control.listeners.size).toBe(0);
  const watchers = await Promise.all([watch(http), watch(http), watch(http)]);
  expect(control.listeners.size).toBe(1);
  control.tell(DOWN);
  for (const watcher of watchers) {
    await watcher.until("data: ");
    expect(watcher.text).toContain("content-type: text/event-stream");
    expect(watcher.text).toContain(`event: health-check\ndata: ${JSON.stringify(DOWN)}\n\n`);
    watcher.socket.destroy();
  }
  await expect.poll(() => control.listeners.size).toBe(0);
});

test("whoever asks for the head only does not watch", async () => {
  const control = new TellingControl();
  const http = await startTestController(control);
  const { status, headers } = await http.ask("HEAD", PATH);
  expect(status).toBe(200);
  expect(headers["content-type"]).toContain("text/event-stream");
  expect(control.listeners.size).toBe(0);
});

test("those who hear nothing are told that it still lives", async () => {
  const http = await startTestController(new TellingControl(), { limits: { heartbeatMs: 20 } });
  await (await watch(http)).until(": alive");
});

test("there is room for so many only", async () => {
  const http = await startTestController(new TellingControl(), { limits: { maxWatchers: 2 } });
  const [first] = await Promise.all([watch(http), watch(http)]);
  expect(await http.ask("GET", PATH)).toMatchObject({
    status: 503,
    headers: { "retry-after": "5" },
    json: { code: "ERR_REFUSED" },
  });
  first.socket.destroy();
  await expect.poll(() => http.controller.connections()).toBeLessThan(3);
  await watch(http);
});

test("a watcher that does not read is dropped, the others are not", async () => {
  const control = new TellingControl();
  const http = await startTestController(control, { limits: { maxWatcherBytes: 10_000 } });
  const [deaf, other] = await Promise.all([watch(http), watch(http)]);
  deaf.socket.pause();
  const closed = once(deaf.socket, "close");
  const event = { ...DOWN, reason: "x".repeat(5000) };
  while (http.controller.connections() === 2) {
    other.text = "";
    control.tell(event);
    await other.until("\n\n");
  }
  deaf.socket.resume();
  await closed;
  other.text = "";
  control.tell(DOWN);
  await other.until("refused");
});

test("watchers end with the controller", async () => {
  const control = new TellingControl();
  const http = await startTestController(control);
  const { socket } = await watch(http);
  const closed = once(socket, "close");
  await http.controller.close();
  await closed;
  expect(control.listeners.size).toBe(0);
});
