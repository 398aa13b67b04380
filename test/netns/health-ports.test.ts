import { describe, expect, onTestFinished, test } from "vitest";
import type { ModelObject } from "../../src/core/model/object.ts";
import { requires } from "../support/requires.ts";
import { BackendProcess } from "./backend-process.ts";
import { iptables, NFTABLES } from "./kernel-subjects.ts";
import { at, both, endpoint, NODE, NODE_IPS, Play, service } from "./play.ts";

const HEALTH_PORT = 32_000;
/** curl(1): failed to connect. */
const CURL_REFUSED = "000";

const LOCAL = service({
  type: "LoadBalancer",
  loadBalancerIPs: ["203.0.113.20", "2001:db8:1b::20"],
  externalTrafficPolicy: "Local",
  healthCheckNodePort: HEALTH_PORT,
});

/** What the node's health-check port answers a load balancer in each family, and what traffic meets then. */
class Balancer {
  readonly #play: Play;
  readonly #health: BackendProcess;

  private constructor(play: Play) {
    this.#play = play;
    this.#health = new BackendProcess(play.stage.network);
    onTestFinished(() => this.#health.close());
  }

  static async open(subject: Parameters<typeof Play.open>[0]): Promise<Balancer> {
    const balancer = new Balancer(await Play.open(subject));
    await balancer.#health.start("healthchecks", {});
    return balancer;
  }

  async apply(...objects: readonly ModelObject[]): Promise<void> {
    await this.#play.apply(...objects);
    await this.#health.apply([NODE, ...objects]);
  }

  /** With curl, from outside. */
  codes(): readonly string[] {
    return both(NODE_IPS).map((ip) => {
      const host = ip.includes(":") ? `[${ip}]` : ip;
      const url = `http://${host}:${HEALTH_PORT}/healthz`;
      const script = `curl -g -s -o /dev/null -m 5 -w '%{http_code}' '${url}' || true`;
      return this.#play.stage.network.exec("outside", "sh", ["-c", script]);
    });
  }

  call(): Promise<string> {
    return this.#play.call({ to: { v4: "203.0.113.20", v6: "2001:db8:1b::20" } });
  }
}

const needs = requires("linux", "root", "ip", "nft", "iptables", "curl");

describe.each([NFTABLES, iptables("nft"), iptables("legacy")])(
  "$backend $options",
  needs,
  (subject) => {
    test("200 while this node has endpoints, 503 while only others do, closed without the service", async () => {
      const balancer = await Balancer.open(subject);
      await balancer.apply(LOCAL, endpoint("web-a"), endpoint("web-b"));
      expect(balancer.codes()).toEqual(["200", "200"]);
      expect(await balancer.call()).toBe(at("web-a"));
      await balancer.apply(LOCAL, endpoint("web-b"));
      expect(balancer.codes()).toEqual(["503", "503"]);
      await balancer.apply(
        LOCAL,
        endpoint("web-a", { terminating: true, ready: false }),
        endpoint("web-b"),
      );
      expect(balancer.codes()).toEqual(["503", "503"]);
      // Who was told so late still gets through.
      expect(await balancer.call()).toBe(at("web-a"));
      await balancer.apply(LOCAL, endpoint("web-a"));
      expect(balancer.codes()).toEqual(["200", "200"]);
      await balancer.apply();
      expect(balancer.codes()).toEqual([CURL_REFUSED, CURL_REFUSED]);
    });
  },
);
