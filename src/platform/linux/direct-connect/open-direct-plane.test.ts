import { execFileSync } from "node:child_process";
import { mkdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { OwnCgroup } from "../../../../test/netns/own-cgroup.ts";
import { requires } from "../../../../test/support/requires.ts";
import { ipAddress, type SocketAddress } from "../../socket-address.ts";
import { SOCK_CLOEXEC, SOCK_STREAM, SOCKADDR_BYTES } from "../abi.ts";
import { findCgroupMount } from "../cgroup-mount.ts";
import { close } from "../io-calls.ts";
import { allocateNative } from "../native-memory.ts";
import { NetworkNamespace } from "../network-namespace.ts";
import { domainOf } from "../sockaddr.ts";
import { connect, listen, socket } from "../socket-calls.ts";
import { bindTo, connectTo, localAddressOf, remoteAddressOf } from "../socket-names.ts";
import { checked } from "../system-error.ts";
import type { DirectPlane, Place } from "./direct-plane.ts";
import { openDirectPlane, probeDirectPlane } from "./open-direct-plane.ts";

const ASKED = { v4: "10.96.0.1", v6: "fd96::1" } as const;
const LOOPBACK = { v4: "127.0.0.1", v6: "::1" } as const;
const PORT = 80;

async function enterCgroup(): Promise<OwnCgroup> {
  const cgroup = await OwnCgroup.enter();
  onTestFinished(() => cgroup.leave());
  return cgroup;
}

/** A namespace in which this process is led, while it is in a cgroup of its own. */
async function setUp() {
  const cgroup = await enterCgroup();
  const namespace = NetworkNamespace.create();
  onTestFinished(() => namespace.close());
  namespace.run(() => execFileSync("ip", ["link", "set", "lo", "up"]));
  const open = async (): Promise<DirectPlane> => {
    const opened = await namespace.run(() =>
      openDirectPlane({ node: cgroup.path, workloads: undefined }),
    );
    if (opened.kind === "obstacle") throw new Error(opened.what);
    onTestFinished(() => opened.plane.close());
    return opened.plane;
  };
  return { namespace, open };
}

function streamSocket(address: SocketAddress): number {
  const fd = checked("socket", socket(domainOf(address), SOCK_STREAM | SOCK_CLOEXEC, 0));
  onTestFinished(() => void close(fd));
  return fd;
}

/** Where somebody listens. */
function listener(ip: string): Place {
  const fd = streamSocket(ipAddress(ip, 0));
  checked("bind", bindTo(fd, ipAddress(ip, 0)));
  checked("listen", listen(fd, 16));
  const address = localAddressOf(fd);
  if (address.family === "unix") throw new Error("it has an address");
  return { ip, port: address.port };
}

/** connect(2) with AF_UNSPEC: a socket as it was before it was connected. */
function disconnect(fd: number): void {
  const nobody = allocateNative(SOCKADDR_BYTES);
  checked("connect", connect(fd, nobody.address, SOCKADDR_BYTES));
}

/** One socket that calls addresses in turn: what it is told of its peer each time. */
function peersInTurn(called: readonly SocketAddress[], prepare: (fd: number) => void = () => {}) {
  const [first] = called;
  if (first === undefined) return [];
  const fd = streamSocket(first);
  return called.map((address) => {
    checked("connect", connectTo(fd, address));
    const peer = remoteAddressOf(fd);
    disconnect(fd);
    prepare(fd);
    return peer;
  });
}

/** Until the kernel did what it does on its own. */
async function eventually(check: () => boolean): Promise<void> {
  await expect.poll(check, { timeout: 5000 }).toBe(true);
}

describe("the programs at connect(2)", requires("linux", "root", "cgroup2", "ip"), () => {
  test.each(["v4", "v6"] as const)(
    "a socket that is connected anew is told whom it called then: %s",
    async (family) => {
      const { namespace, open } = await setUp();
      const plane = await open();
      namespace.run(() => {
        const target = listener(LOOPBACK[family]);
        const place = { ip: ASKED[family], port: PORT };
        plane.writeSlots([{ id: 1, slots: [{ threshold: 0, first: target, other: target }] }]);
        plane.setFrontends([{ place, list: 1, slotCount: 1 }]);
        const asked = ipAddress(place.ip, place.port);
        const itself = ipAddress(target.ip, target.port);
        expect(peersInTurn([asked, itself, asked])).toEqual([asked, itself, asked]);
        const bound = (fd: number) => void bindTo(fd, ipAddress(LOOPBACK[family], 0));
        expect(peersInTurn([asked, itself], bound)).toEqual([asked, itself]);
      });
      expect(plane.counts()).toEqual({ translated: 3, missed: 0 });
    },
  );

  test("a cgroup that is not there is named with the option that it is for", async () => {
    const { path } = await enterCgroup();
    const missing = join(path, "missing");
    for (const [cgroups, option] of [
      [{ node: missing, workloads: undefined }, "--direct-connect-cgroup"],
      [{ node: path, workloads: missing }, "--direct-connect-workloads"],
    ] as const) {
      expect(await probeDirectPlane(cgroups)).toMatchObject({
        what: expect.stringContaining(missing),
        remedy: `name a folder of the cgroups of version 2: ${option}`,
      });
    }
  });

  test.each([
    ["the node's", (goes: string) => ({ node: goes, workloads: undefined })],
    ["the workloads'", (goes: string, stays: string) => ({ node: stays, workloads: goes })],
  ])(
    "it is known when %s cgroup goes, though another comes by its name",
    async (_, cgroupsWith) => {
      const path = join((await findCgroupMount()) ?? "", `portolan-test-${process.pid}-goes`);
      mkdirSync(path);
      onTestFinished(() => rmdirSync(path));
      const { path: stays } = await enterCgroup();
      const opened = await openDirectPlane(cgroupsWith(path, stays));
      if (opened.kind === "obstacle") throw new Error(opened.what);
      const { plane } = opened;
      onTestFinished(() => plane.close());
      expect(plane.isAttached()).toBe(true);
      rmdirSync(path);
      mkdirSync(path);
      await eventually(() => !plane.isAttached());
    },
  );
});
