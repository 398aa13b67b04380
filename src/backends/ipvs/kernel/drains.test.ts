import { expect, test } from "vitest";
import {
  type DestinationState,
  serverId,
  type VirtualServer,
} from "../../../wire/netlink/ipvs/virtual-server.ts";
import { Drains } from "./drains.ts";
import { backingKey } from "./items.ts";
import type { Backing } from "./virtual-servers.ts";

const BALANCING = { scheduler: "wrr", flags: 0, persistenceSeconds: 0 } as const;
const TCP = at({ protocol: "TCP", ip: "10.96.0.1", port: 80 });
const UDP = at({ protocol: "UDP", ip: "10.96.0.1", port: 53 });
const MARK = at({ mark: 0x40 });

function at(place: VirtualServer["place"]): VirtualServer {
  return { family: "v4", place, ...BALANCING };
}

/** Real servers behind each virtual one, with as many connections, active and inactive. */
class Table {
  readonly asked: string[] = [];
  readonly #connections = new Map<string, readonly [active: number, inactive: number]>();

  has(server: VirtualServer, ip: string, active: number, inactive: number): Backing {
    const destination = { ip, port: 8080, weight: 1 };
    this.#connections.set(backingKey(server, destination), [active, inactive]);
    return { server, destination };
  }

  async destinations(server: Pick<VirtualServer, "family" | "place">): Promise<DestinationState[]> {
    const id = serverId(server);
    this.asked.push(id);
    return [...this.#connections]
      .filter(([key]) => key.startsWith(`${id} `))
      .map(([key, [activeConnections, inactiveConnections]]) => ({
        ip: key.slice(id.length + 1).replace(":8080", ""),
        port: 8080,
        weight: 1,
        isTranslated: true,
        isLimited: false,
        activeConnections,
        inactiveConnections,
        statistics: { connections: 0, packetsIn: 0, packetsOut: 0, bytesIn: 0, bytesOut: 0 },
      }));
  }
}

const keyed = (backing: Backing): readonly [string, Backing] => [
  backingKey(backing.server, backing.destination),
  backing,
];
const keyOf = (backing: Backing): string => keyed(backing)[0];

test("a connection that ends still counts; UDP keeps nothing, and what is led by a mark may be TCP", async () => {
  const table = new Table();
  const active = table.has(TCP, "10.244.0.1", 1, 0);
  const ending = table.has(TCP, "10.244.0.2", 0, 1);
  const unused = table.has(TCP, "10.244.0.3", 0, 0);
  const marked = table.has(MARK, "10.244.0.1", 1, 0);
  const datagrams = table.has(UDP, "10.244.0.1", 1, 1);
  const candidates = [active, ending, unused, marked, datagrams].map(keyed);
  const busy = await new Drains(table).busy(candidates);
  expect([...busy].sort()).toEqual([active, ending, marked].map(keyOf).sort());
  // Once for each virtual server.
  expect(table.asked).toEqual([serverId(TCP), serverId(MARK)]);
});

test("those whose last connection has ended are told; others drain on", async () => {
  const table = new Table();
  const drains = new Drains(table);
  const held = table.has(TCP, "10.244.0.1", 1, 0);
  const over = table.has(TCP, "10.244.0.2", 0, 0);
  for (const one of [held, over]) drains.add(keyOf(one), one.server);
  expect(await drains.finished()).toEqual([keyOf(over)]);
  expect(drains.size).toBe(2);
});

test("they are known by their virtual server, and forgotten where they are gone", () => {
  const table = new Table();
  const drains = new Drains(table);
  const [one, other] = [table.has(TCP, "10.244.0.1", 1, 0), table.has(MARK, "10.244.0.1", 1, 0)];
  for (const each of [one, other]) drains.add(keyOf(each), each.server);
  expect(drains.keysOf(serverId(TCP))).toEqual([keyOf(one)]);
  drains.keepOnly((key) => key === keyOf(other));
  expect(drains.keysOf(serverId(TCP))).toEqual([]);
  expect(drains.keysOf(serverId(MARK))).toEqual([keyOf(other)]);
});
