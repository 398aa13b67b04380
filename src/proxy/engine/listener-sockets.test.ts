import { expect, test } from "vitest";
import { ipAddress } from "../../platform/socket-address.ts";
import { type ListenerConfig, PLAIN_LISTENER } from "../engine-config.ts";
import type { OpenSocket, SocketWish } from "./fleet.ts";
import { ListenerSockets, type PlacedListener } from "./listener-sockets.ts";

const ROUTE = { accept: "worker", work: "worker" };

function listener(ip: string): PlacedListener {
  const config: ListenerConfig = {
    key: "front",
    address: ipAddress(ip, 80),
    mode: "tcp",
    upstream: "",
    proxyProtocol: { acceptFrom: [], send: "none" },
    access: undefined,
    idleTimeoutMs: 1,
    connectTimeoutMs: 1,
    inBufferBytes: 1,
    outBufferBytes: 1,
    allowOthers: false,
    ...PLAIN_LISTENER,
  };
  return { listener: config, route: ROUTE };
}

/** Where, as on a real machine, a wildcard and an address can not be had both. */
function createFleet() {
  const calls: string[] = [];
  const open = new Set<string>();
  const listen = async ({ id, address }: SocketWish): Promise<OpenSocket> => {
    if ([...open].some((other) => isWildcard(other) || isWildcard(id))) throw new Error("in use");
    calls.push(`open ${id}`);
    open.add(id);
    return {
      address,
      descriptors: () => [],
      moveTo: async () => undefined,
      release: async () => undefined,
      close: async () => {
        calls.push(`close ${id}`);
        open.delete(id);
      },
    };
  };
  return { listen, calls };
}

function isWildcard(id: string): boolean {
  return id.includes("0.0.0.0");
}

test("the next socket is open before the last one closes", async () => {
  const fleet = createFleet();
  const sockets = new ListenerSockets();
  expect(await sockets.follow([listener("192.0.2.1")], fleet)).toEqual([]);
  expect(await sockets.follow([listener("192.0.2.2")], fleet)).toEqual([]);
  expect(fleet.calls).toEqual([
    "open TCP 192.0.2.1:80",
    "open TCP 192.0.2.2:80",
    "close TCP 192.0.2.1:80",
  ]);
});

test("a wildcard gives way to an address that it covers, and takes its place again", async () => {
  const fleet = createFleet();
  const sockets = new ListenerSockets();
  for (const ip of ["0.0.0.0", "192.0.2.1", "0.0.0.0"]) {
    expect(await sockets.follow([listener(ip)], fleet)).toEqual([]);
  }
  expect(fleet.calls.slice(1)).toEqual([
    ...["close TCP 0.0.0.0:80", "open TCP 192.0.2.1:80"],
    ...["close TCP 192.0.2.1:80", "open TCP 0.0.0.0:80"],
  ]);
});

test("what is still in the way is told", async () => {
  const fleet = createFleet();
  const wanted = [listener("0.0.0.0"), listener("192.0.2.1")];
  expect(await new ListenerSockets().follow(wanted, fleet)).toEqual([
    { listener: "front", message: "listener front: in use" },
  ]);
});
