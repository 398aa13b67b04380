import { describe, expect, test } from "vitest";
import type { ResultRecord } from "../../src/control/result.ts";
import { startEtcd } from "../support/etcd.ts";
import { freePortBlock } from "../support/free-ports.ts";
import { startNamedServer } from "../support/named-server.ts";
import { requires } from "../support/requires.ts";
import { makeStateFolder, NO_PORTS, startUp, type Up } from "./up-fixture.ts";

const LATER = { timeout: 20_000, interval: 50 };
const ENDPOINTS = "/portolan/v1/objects/Endpoint";
const PRINT = [...NO_PORTS, "--to", "print", "--announce-ttl", "2s"];

async function recordOf(up: Up, line: string): Promise<ResultRecord> {
  const result = await up.command(line);
  const [record] = result.kind === "records" ? result.records : [];
  if (record === undefined) throw new TypeError(`${line}: nothing`);
  return record;
}

async function serversOf(up: Up): Promise<readonly string[]> {
  const result = await up.command("list server in server-group g0");
  return result.kind === "names" ? result.names : [];
}

async function follow(up: Up): Promise<void> {
  await up.command("add server-group g0");
  await up.command("add smart-group-delegate d0 service shop zone z0 server-group g0");
}

function announce(up: Up, port: number): Promise<unknown> {
  const place = `zone z0 address 127.0.0.1 port ${port}`;
  return up.command(`add smart-node-delegate n0 service shop ${place} weight 7 period 50`);
}

test("delegates find each other through a brain, and after it comes back", async () => {
  const brainPort = await freePortBlock(1);
  const brainState = makeStateFolder();
  const brainArgs = [
    ...NO_PORTS,
    ...["--to", "api", "--api-announcements", "--api-listen", `127.0.0.1:${brainPort}`],
  ];
  const brain = await startUp(brainState, brainArgs);
  const from = ["--from", `api:127.0.0.1:${brainPort}`];
  const follower = await startUp(makeStateFolder(), [...PRINT, ...from]);
  await follow(follower);
  const server = await startNamedServer("one");
  const name = `shop@127.0.0.1:${server.port}`;
  const state = makeStateFolder();
  const announcer = await startUp(state, [...PRINT, ...from]);
  await announce(announcer, server.port);
  await expect.poll(() => serversOf(follower), LATER).toEqual([name]);
  expect(await recordOf(follower, "list-detail server in server-group g0")).toMatchObject({
    address: `127.0.0.1:${server.port}`,
    weight: 7,
  });
  expect(await recordOf(announcer, "list-detail smart-node-delegate")).toMatchObject({
    to: `api:127.0.0.1:${brainPort}`,
    status: "announced",
    announced: [`127.0.0.1:${server.port}`],
  });

  // What was announced outlives the brain, and is known again at once.
  await brain.cli.stop("SIGKILL");
  expect(await serversOf(follower)).toEqual([name]);
  await expect
    .poll(() => recordOf(announcer, "list-detail smart-node-delegate"), LATER)
    .toMatchObject({ status: "announcing", problem: expect.stringContaining("reach") });
  const again = await startUp(brainState, brainArgs);
  expect(await again.keys("Endpoint")).toEqual([`default/shop/127.0.0.1:${server.port}`]);
  await expect
    .poll(() => recordOf(announcer, "list-detail smart-node-delegate"), LATER)
    .toMatchObject({ status: "announced" });
  expect(await serversOf(follower)).toEqual([name]);

  // A machine that dies is forgotten; when it comes back its journal knows what it announced.
  await announcer.cli.stop("SIGKILL");
  await expect.poll(() => serversOf(follower), LATER).toEqual([]);
  await startUp(state, [...PRINT, ...from]);
  await expect.poll(() => serversOf(follower), LATER).toEqual([name]);
  await server.close();
  await expect.poll(() => serversOf(follower), LATER).toEqual([]);
}, 90_000);

test("a brain that was not told so takes no announcements, and says so", async () => {
  const brainPort = await freePortBlock(1);
  const listen = ["--to", "api", "--api-listen", `127.0.0.1:${brainPort}`];
  await startUp(makeStateFolder(), [...NO_PORTS, ...listen]);
  const from = ["--from", `api:127.0.0.1:${brainPort}`];
  const up = await startUp(makeStateFolder(), [...PRINT, ...from]);
  const server = await startNamedServer("one");
  await announce(up, server.port);
  await expect
    .poll(() => recordOf(up, "list-detail smart-node-delegate"), LATER)
    .toMatchObject({ status: "announcing", problem: expect.stringContaining("not known") });
});

describe("with etcd", requires("etcd", "etcdctl"), () => {
  test("delegates find each other, with a lease that ends with its machine", async () => {
    const etcd = await startEtcd();
    const from = ["--from", `etcd:${etcd.addresses}`];
    const follower = await startUp(makeStateFolder(), [...PRINT, ...from]);
    await follow(follower);
    const server = await startNamedServer("one");
    const name = `shop@127.0.0.1:${server.port}`;
    const announcer = await startUp(makeStateFolder(), [...PRINT, ...from]);
    await announce(announcer, server.port);
    await expect.poll(() => serversOf(follower), LATER).toEqual([name]);
    // What somebody removes is announced again.
    await etcd.ctl("del", "--prefix", ENDPOINTS);
    const inEtcd = () => etcd.ctl("get", "--prefix", "--keys-only", ENDPOINTS);
    await expect.poll(inEtcd, LATER).toContain("default/shop");
    await expect.poll(() => serversOf(follower), LATER).toEqual([name]);
    await announcer.cli.stop("SIGKILL");
    await expect.poll(() => serversOf(follower), LATER).toEqual([]);
    const next = await startUp(makeStateFolder(), [...PRINT, ...from]);
    await announce(next, server.port);
    await expect.poll(() => serversOf(follower), LATER).toEqual([name]);
    // A clean end does not wait for the lease.
    await next.command("remove smart-node-delegate n0");
    expect((await inEtcd()).trim()).toBe("");
    await expect.poll(() => serversOf(follower), LATER).toEqual([]);
  }, 60_000);
});
