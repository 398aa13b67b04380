import { request } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import type { Log } from "../../core/log.ts";
import { EdgeEvents } from "../../edge/environment/edge-events.ts";
import type { RestRoute } from "../../edge/rest/rest-routes.ts";
import { createRestServer } from "./rest-server.ts";

const silent = (): void => undefined;
const LOG: Log = { debug: silent, info: silent, warn: silent, error: silent };

const ROUTES: readonly RestRoute[] = [
  { method: "GET", path: "/node", summary: "", answer: async () => ({ name: "node-a" }) },
  {
    method: "GET",
    path: "/broken",
    summary: "",
    answer: async () => {
      throw new Error("a secret of the inside");
    },
  },
];

async function start() {
  const events = new EdgeEvents(() => 0);
  const answered: string[] = [];
  const onAnswer = (path: string, status: number): void => void answered.push(`${path} ${status}`);
  const server = createRestServer({ routes: ROUTES, events, log: LOG, onAnswer });
  onTestFinished(() => server.close());
  const address = await server.listen({ kind: "tcp", host: "127.0.0.1", port: 0 });
  if (address.kind !== "tcp") throw new Error("it listens elsewhere");
  const { port } = address;
  const ask = (path: string, headers: Record<string, string> = {}): Promise<[number, string]> =>
    new Promise((resolve, reject) => {
      const sent = request({ host: "127.0.0.1", port, path, headers }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk;
          if (path === "/events" && text.includes("data:")) sent.destroy();
        });
        response.on("close", () => resolve([response.statusCode ?? 0, text]));
      });
      sent.on("error", reject);
      sent.end();
    });
  return { server, events, answered, ask };
}

test("answers on loopback by its address, and no page of a browser", async () => {
  const { ask, answered } = await start();
  expect(await ask("/node")).toEqual([200, '{"name":"node-a"}\n']);
  expect(await ask("/node", { host: "evil.example" })).toEqual([
    403,
    expect.stringMatching("host"),
  ]);
  expect(await ask("/node", { origin: "http://evil.example" })).toEqual([
    403,
    expect.stringMatching("origin"),
  ]);
  expect(await ask("/nothing")).toEqual([404, expect.stringContaining("/node /broken /events")]);
  expect(answered).toEqual(["/node 200", "/node 403", "/node 403", "/nothing 404"]);
});

test("a fault is told by a number under which the log has it, and by nothing else", async () => {
  const { ask } = await start();
  const [status, text] = await ask("/broken");
  expect(status).toBe(500);
  expect(text).toContain("errId");
  expect(text).not.toContain("secret");
});

test("refuses to listen where others could reach it", async () => {
  const { server } = await start();
  for (const host of ["0.0.0.0", "::", "192.0.2.1"]) {
    await expect(server.listen({ kind: "tcp", host, port: 0 })).rejects.toMatchObject({
      code: "ERR_REFUSED",
    });
  }
});

test("whoever comes back is told what it missed", async () => {
  const { ask, events } = await start();
  for (const serviceName of ["a", "b"])
    events.tell({ type: "failed", serviceName, reason: "gone" });
  const [status, text] = await ask("/events", { "last-event-id": "1" });
  expect(status).toBe(200);
  expect(text).toContain('id: 2\nevent: failed\ndata: {"type":"failed","serviceName":"b"');
  expect(text).not.toContain('"a"');
});
