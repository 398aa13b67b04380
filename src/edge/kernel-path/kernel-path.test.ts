import { expect, test } from "vitest";
import { ipAddress } from "../../platform/socket-address.ts";
import { wordsOfIp } from "../../wire/ip/address-words.ts";
import type { FlowPlan } from "../flows/flow.ts";
import type { Target } from "../flows/packet-router.ts";
import { PrefixMap } from "../flows/prefix-map.ts";
import { LiveInstance } from "../table/live-instance.ts";
import { Peer } from "../tunnel/peer.ts";
import { FakeKernelMaps } from "./kernel-maps.fixture.ts";
import { KernelPath } from "./kernel-path.ts";
import { COUNTS } from "./layout.ts";

const INSTANCE = new LiveInstance("web", { number: 0, node: "b", addresses: [], weight: 1 });
const [ON, OFF] = ["01000000", "00000000"].map((isOn) => `${isOn}05000000c3b7${"0".repeat(12)}`);

function planOf(port: number): FlowPlan {
  const words = wordsOfIp("10.18.0.2");
  const ends = (ports: number) => ({ source: words, destination: words, ports });
  return {
    protocol: 17,
    asked: ends(port),
    sent: ends(0),
    answered: ends(~port),
    returned: ends(0),
  };
}

/** A kernel path with room for so many directions of flows. */
function world(maxEnds = 100) {
  const maps = new FakeKernelMaps();
  maps.maps.flows.maxEntries = maxEnds;
  const done: string[] = [];
  const warned: string[] = [];
  const ignore = (): void => undefined;
  const path = new KernelPath({
    parts: {
      maps,
      tun: 5,
      localPort: 50_103,
      wayTo: () => ({ link: 3, source: 1 }),
      attach: (link) => {
        done.push(`attach ${link}`);
        return () => done.push(`detach ${link}`);
      },
      detachAll: () => done.push("detach all"),
      close: () => done.push("close"),
    },
    isHeard: () => true,
    nowMs: () => 0,
    nowNs: () => 0,
    log: {
      debug: ignore,
      info: ignore,
      error: ignore,
      warn: (_fields, message) => warned.push(message),
    },
  });
  const peer = new Peer({ node: "b", subnets: [], modes: ["fast"] });
  peer.setEndpoint(ipAddress("192.0.2.1", 1));
  const routes = new PrefixMap<Target<Peer>>();
  routes.add("10.18.0.0/26", "local");
  const setting = () => Buffer.from(maps.maps.setting.entries.get(OFF_KEY) ?? []).toString("hex");
  return { maps, done, warned, path, peer, routes, setting };
}

const OFF_KEY = "00000000";

test("it is on when routes are there, and links are attached as peers come", () => {
  const { maps, done, path, peer, routes, setting } = world();
  expect(setting()).toBe("");
  path.begin(routes);
  expect(maps.done.map((line) => line.split(" ", 2)[1])).toEqual(["routesV4", "setting"]);
  expect(setting()).toBe(ON);
  path.refresh(peer);
  expect(done).toEqual(["attach 3"]);
  maps.counted[COUNTS.sent] = 4;
  maps.counted[COUNTS.refused] = 2;
  expect(path.stats()).toEqual({ isOpen: true, sent: 4, received: 0, refused: 2, failed: 0 });
  path.close();
  expect(done).toEqual(["attach 3", "detach 3", "close"]);
});

test("where a flow finds no room it is given up for good, and told once", () => {
  const { maps, done, warned, path, peer, routes, setting } = world(2);
  path.begin(routes);
  path.refresh(peer);
  path.flows.added(planOf(1), 0, { instance: INSTANCE, target: peer });
  expect(warned).toEqual([]);
  path.flows.added(planOf(2), 0, { instance: INSTANCE, target: peer });
  expect(warned).toHaveLength(1);
  expect(setting()).toBe(OFF);
  expect(done).toEqual(["attach 3", "detach 3", "detach all"]);
  const before = maps.done.length;
  path.flows.removed(planOf(1));
  path.flows.added(planOf(3), 0, { instance: INSTANCE, target: peer });
  path.refresh(peer);
  path.review(routes);
  path.tick(0);
  expect([maps.done.length, warned.length, done.length]).toEqual([before, 1, 3]);
  expect(path.stats()).toMatchObject({ isOpen: false, reason: expect.stringContaining("E2BIG") });
});
