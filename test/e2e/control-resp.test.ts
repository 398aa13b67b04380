import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { parseHostPort } from "../../src/core/model/address.ts";
import { callTimes } from "../support/line-client.ts";
import { freePort, startNamedServer } from "../support/named-server.ts";
import { redisCli } from "../support/redis-cli.ts";
import { requires } from "../support/requires.ts";
import { seededBytes, seededRandom } from "../support/seeded-random.ts";
import { startUp, type UpInstance } from "./cli-instance.ts";

const PASSWORD = "not a good one";

async function respPort({ until }: UpInstance): Promise<number> {
  const isResp = ({ type }: { readonly type: string }) => type === "resp-controller";
  const { controllers } = await until((status) => status.controllers.some(isResp));
  const resp = controllers.find(isResp);
  expect(resp).toMatchObject({ hasSecret: true });
  return parseHostPort(resp?.address ?? "")?.port ?? 0;
}

function open(port: number): Socket {
  const socket = connect(port, "127.0.0.1").on("error", () => undefined);
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** Sends and waits for the end. */
async function throwAt(port: number, bytes: Buffer): Promise<void> {
  const socket = open(port).resume();
  const closed = once(socket, "close");
  socket.end(bytes);
  await closed;
}

/** Everything at once that strangers and broken clients do. */
async function abuse(port: number): Promise<void> {
  const random = seededRandom(5);
  const noise = seededBytes(6, 70_000);
  for (let count = 0; count < 300; count += 1) open(port);
  open(port).pause().write("PING\r\n".repeat(10_000));
  const oversized = Buffer.from(`*1\r\n$60000\r\n${"x".repeat(200_000)}`);
  const http = Buffer.from("POST / HTTP/1.1\r\nHost: x\r\n\r\nremove tcp-lb lb0\r\n");
  for (let round = 0; round < 20; round += 1) {
    const strings = Array.from({ length: 48 }, () => {
      const start = Math.floor(random() * 60_000);
      return noise.subarray(start, start + 1 + Math.floor(random() * 200));
    });
    await Promise.all([...strings, oversized, http].map((bytes) => throwAt(port, bytes)));
  }
}

test("what redis-cli makes carries traffic, and no abuse of the controller touches it", {
  ...requires("redis-cli"),
  timeout: 120_000,
}, async () => {
  const up = await startUp({ env: { PORTOLAN_RESP_PASSWORD: PASSWORD } });
  const port = await respPort(up);
  const server = await startNamedServer("one");
  const lbPort = await freePort();
  const give = async (line: string) =>
    (await redisCli(port, line.split(" "), { password: PASSWORD })).trimEnd();
  for (const line of [
    "add upstream u0",
    "add server-group g0 protocol none",
    `add server s1 to server-group g0 address 127.0.0.1:${server.port}`,
    "add server-group g0 to upstream u0",
    `add tcp-lb lb0 address 127.0.0.1:${lbPort} upstream u0`,
  ]) {
    expect(await give(line)).toBe("OK");
  }
  expect(await redisCli(port, ["remove", "tcp-lb", "lb0"], { password: "no" })).toMatch(/NOAUTH /);
  expect(await give("shutdown")).toMatch(/^ERR ERR_REFUSED /);

  let isOver = false;
  const abused = abuse(port).finally(() => {
    isOver = true;
  });
  const called: string[] = [];
  while (!isOver) called.push(...(await callTimes(lbPort, 5)));
  await abused;
  expect(new Set(called)).toEqual(new Set(["one"]));
  expect(await give("list tcp-lb")).toBe("lb0");

  const stdin = "list tcp-lb\nlist server in server-group g0\n";
  expect(await up.run(["console"], { stdin })).toMatchObject({ code: 0, stdout: "lb0\ns1\n" });
  const json = await up.run(["console", "--json", "-e", "list accepted-conn-count in tcp-lb lb0"]);
  expect(JSON.parse(json.stdout)).toEqual({ kind: "number", value: called.length });
});
