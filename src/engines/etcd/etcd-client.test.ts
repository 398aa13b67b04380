import { createServer, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, onTestFinished, test } from "vitest";
import { freePortBlock } from "../../../test/support/free-ports.ts";
import { GRPC_STATUS } from "../../wire/grpc/status.ts";
import { clientOf, portOf, type ScriptedCall, scriptEtcd } from "./scripted-etcd.fixture.ts";

const KEY = { key: Buffer.from("/a") };
/** Of gRPC. */
const PERMISSION_DENIED = 7;
const FAILED_PRECONDITION = 9;
const HEADER = { cluster_id: 1, revision: 7 };
const well = (call: ScriptedCall): void => call.reply({ header: HEADER });

/** Takes connections and never says a word. */
async function startSilent(): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return portOf(server.address());
}

/** The garbage collector of a Node that was started without it. */
function collector(): () => void {
  setFlagsFromString("--expose-gc");
  const found: unknown = runInNewContext("gc");
  if (typeof found !== "function") throw new TypeError("no collector");
  return () => void found();
}

test("an etcd that can not be reached is told at the deadline, also where memory is collected", async () => {
  const collect = collector();
  const port = await freePortBlock(1);
  const client = clientOf([port], {
    limits: { deadlineMs: 300, backoff: { firstMs: 20, maxMs: 20 } },
    sleep: async (ms, signal) => {
      collect();
      await delay(ms, undefined, { signal });
    },
  });
  await expect(client.range(KEY)).rejects.toMatchObject({
    code: "ERR_ETCD_UNREACHABLE",
    message: expect.stringContaining("ECONNREFUSED"),
  });
});

test("an etcd that accepts and never answers is told at the deadline of a call, however long a connection may take", async () => {
  const silent = await startSilent();
  const client = clientOf([silent], { limits: { deadlineMs: 100, connectTimeoutMs: 3_600_000 } });
  await expect(client.range(KEY)).rejects.toMatchObject({
    code: "ERR_ETCD_UNREACHABLE",
    message: "etcd does not answer: no answer before the deadline of the call",
  });
});

test("a call whose deadline ends while all members are left alone says why they are", async () => {
  const port = await freePortBlock(1);
  const hour = { firstMs: 3_600_000, maxMs: 3_600_000 };
  const client = clientOf([port], { limits: { deadlineMs: 500, backoff: hour } });
  const first = client.range(KEY);
  await expect(first).rejects.toMatchObject({ code: "ERR_ETCD_UNREACHABLE" });
  await expect(client.range(KEY)).rejects.toMatchObject({
    code: "ERR_ETCD_UNREACHABLE",
    message: expect.stringContaining("ECONNREFUSED"),
  });
});

test("the next member does what one can not: unreachable, silent, without a leader, not etcd", async () => {
  const closed = await freePortBlock(1);
  const silent = await startSilent();
  const mute = await scriptEtcd(() => undefined);
  const broken = await scriptEtcd((call) => call.drop());
  const leaderless = await scriptEtcd((call) =>
    call.fail(GRPC_STATUS.unavailable, "etcdserver: no leader"),
  );
  const good = await scriptEtcd(well);
  const limits = { connectTimeoutMs: 250, callTimeoutMs: 250 };
  for (const bad of [closed, silent, mute.port, broken.port, leaderless.port]) {
    const client = clientOf([bad, good.port], { limits });
    expect(await client.range(KEY)).toMatchObject({ header: { revision: 7 } });
    // It stays with the one that worked.
    await client.range(KEY);
  }
  expect(leaderless.connections()).toBe(1);
});

test("where no member does it, each is named with its reason", async () => {
  const closed = await freePortBlock(1);
  const leaderless = await scriptEtcd((call) =>
    call.fail(GRPC_STATUS.unavailable, "etcdserver: no leader"),
  );
  const client = clientOf([closed, leaderless.port], { limits: { deadlineMs: 500 } });
  await expect(client.range(KEY)).rejects.toMatchObject({
    code: "ERR_ETCD_UNREACHABLE",
    message: expect.stringMatching(
      new RegExp(
        `127.0.0.1:${closed}: .*ECONNREFUSED.*; 127.0.0.1:${leaderless.port}: .*no leader`,
      ),
    ),
  });
});

test("what etcd refuses is refused at once, by its words", async () => {
  const asked: string[] = [];
  const refusing = await scriptEtcd((call) => {
    asked.push(call.method);
    call.fail(PERMISSION_DENIED, "etcdserver: permission denied");
  });
  const other = await scriptEtcd(well);
  const client = clientOf([refusing.port, other.port]);
  await expect(client.range(KEY)).rejects.toMatchObject({
    code: "ERR_ETCD_REFUSED",
    message: "etcd refuses: permission denied",
  });
  expect(asked).toEqual(["Range"]);
  expect(other.connections()).toBe(0);
});

/** Gives tokens `t1`, `t2` and so on, and takes only the last one. */
async function scriptGuarded(): Promise<{
  readonly port: number;
  readonly asked: string[];
  /** As a restart does. */
  forget(): void;
}> {
  const asked: string[] = [];
  let last = 0;
  const { port } = await scriptEtcd((call) => {
    asked.push(`${call.method} ${call.token ?? "-"}`);
    if (call.method === "Authenticate") {
      last += 1;
      call.reply({ header: HEADER, token: `t${last}` });
    } else if (call.token === `t${last}`) well(call);
    else call.fail(GRPC_STATUS.unauthenticated, "etcdserver: invalid auth token");
  });
  return {
    port,
    asked,
    forget: () => {
      last += 1;
    },
  };
}

test("who asks is said once for calls at the same time, and anew when the token is forgotten", async () => {
  const guarded = await scriptGuarded();
  const client = clientOf([guarded.port], { credentials: { user: "node", password: "pass" } });
  await Promise.all([client.range(KEY), client.range(KEY)]);
  expect(guarded.asked).toEqual(["Authenticate -", "Range t1", "Range t1"]);
  guarded.forget();
  guarded.asked.length = 0;
  await client.range(KEY);
  expect(guarded.asked).toEqual(["Range t1", "Authenticate -", "Range t3"]);
});

test("a token that is never good is asked for twice, not for ever", async () => {
  let authenticated = 0;
  const never = await scriptEtcd((call) => {
    if (call.method !== "Authenticate") {
      call.fail(GRPC_STATUS.unauthenticated, "etcdserver: invalid auth token");
      return;
    }
    authenticated += 1;
    call.reply({ header: HEADER, token: "x" });
  });
  const client = clientOf([never.port], { credentials: { user: "node", password: "pass" } });
  await expect(client.range(KEY)).rejects.toMatchObject({ code: "ERR_ETCD_REFUSED" });
  expect(authenticated).toBe(2);
});

test("where etcd asks nobody who they are, credentials do no harm", async () => {
  const open = await scriptEtcd((call) => {
    if (call.method === "Authenticate") {
      call.fail(FAILED_PRECONDITION, "etcdserver: authentication is not enabled");
    } else well(call);
  });
  const client = clientOf([open.port], { credentials: { user: "node", password: "pass" } });
  expect(await client.range(KEY)).toMatchObject({ header: { revision: 7 } });
});

test("what waits when the client is closed ends as such", async () => {
  const mute = await scriptEtcd(() => undefined);
  const client = clientOf([mute.port]);
  const waiting = client.range(KEY);
  client.close();
  await expect(waiting).rejects.toMatchObject({ code: "ERR_ABORTED" });
  await expect(client.range(KEY)).rejects.toMatchObject({ code: "ERR_ABORTED" });
});

test("a member is reached by IPv6, too, and named as it is typed", async () => {
  const { port } = await scriptEtcd(well, "::1");
  const members = [{ kind: "tcp", host: "::1", port }] as const;
  expect(await clientOf([], { members }).range(KEY)).toMatchObject({ header: { revision: 7 } });
  const closed = { kind: "tcp", host: "::1", port: await freePortBlock(1) } as const;
  const away = clientOf([], { members: [closed], limits: { deadlineMs: 500 } });
  await expect(away.range(KEY)).rejects.toThrow(`[::1]:${closed.port}`);
});
