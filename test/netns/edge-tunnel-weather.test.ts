import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { ipAddress } from "../../src/platform/socket-address.ts";
import { requires } from "../support/requires.ts";
import { type HostName, underlay } from "./edge-network.ts";
import { EdgeRelay } from "./edge-relay.ts";
import { EdgeTunnels, SETUP_MS, TUNNEL_PORT, webService } from "./edge-tunnels.ts";

describe(
  "tunnels over a network that is not perfect",
  requires("linux", "root", "ip", "curl"),
  () => {
    let edge: EdgeTunnels;
    let toB: EdgeRelay;
    let toC: EdgeRelay;

    /** Between a and another host, at the router. */
    const relayTo = (host: HostName): Promise<EdgeRelay> =>
      EdgeRelay.open(
        (spawning) => edge.network.start("router", spawning),
        [
          { listenIp: relayIp("a", host), hostIp: underlay.v4("a"), port: TUNNEL_PORT },
          { listenIp: underlay.v4(host, 1), hostIp: underlay.v4(host), port: TUNNEL_PORT },
        ],
      );

    beforeAll(async () => {
      edge = await EdgeTunnels.open(["secure"], { rekeyAfterMs: 1000 });
      edge.network.ip("router", `addr add ${relayIp("a", "c")}/24 dev to-a`);
      toB = await relayTo("b");
      toC = await relayTo("c");
      await edge.serveAll("b1", "c1");
      edge.apply([webService(["b", "c"])]);
      for (const of of ["a", "b", "c"] as const) {
        const state = edge.state(of);
        const peers = state.peers.map((peer) => {
          const isThrough = of === "a" || peer.node === "a";
          const ip = of === "a" ? relayIp("a", peer.node === "b" ? "b" : "c") : underlay.v4(of, 1);
          return isThrough ? { ...peer, endpoint: ipAddress(ip, TUNNEL_PORT) } : peer;
        });
        edge.tunnel(of).apply({ ...state, peers });
      }
    }, SETUP_MS);

    afterAll(() => edge?.close());

    test("the closest instance is the one that is closest now", async () => {
      toB.weather = { delayMs: 40 };
      toC.weather = { delayMs: 1 };
      const closest = (name: string) =>
        vi.waitUntil(() => edge.get("a2", "10.30.0.2") === name, { timeout: 15_000 });
      await closest("c1");
      toB.weather = { delayMs: 1 };
      toC.weather = { delayMs: 40 };
      await closest("b1");
    });

    test("bytes come as they were sent where 5 % are lost and some overtake others", () => {
      toC.weather = { loseEvery: 20, holdEvery: 33 };
      expect(edge.isBulkRight("a2", "10.30.0.3")).toBe(true);
      toC.weather = {};
    });

    test("nothing is lost when new keys are agreed on", async () => {
      const completed = async () => (await edge.tunnel("a").stats()).handshakes.completed;
      const before = await completed();
      const ping = edge.network.exec(
        "a2",
        "ping",
        "-c",
        "150",
        "-i",
        "0.02",
        "-W",
        "2",
        "10.30.0.3",
      );
      expect(ping).toContain("150 received");
      expect((await completed()) - before).toBeGreaterThan(1);
    });
  },
);

/** Where the router listens for what `at` sends to a host. */
function relayIp(at: HostName, to: HostName): string {
  return underlay.v4(at, to === "b" ? 1 : 11);
}
