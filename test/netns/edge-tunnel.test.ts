import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { requires } from "../support/requires.ts";
import { overlay } from "./edge-network.ts";
import { EdgeTunnels, type PeerModes, SETUP_MS, webService } from "./edge-tunnels.ts";

const NEEDS = requires("linux", "root", "ip", "curl", "ping");
const CASES: readonly (readonly [string, PeerModes, "v4" | "v6"])[] = [
  ["secure over IPv4", ["secure"], "v4"],
  ["secure over IPv6", ["secure"], "v6"],
  ["fast, agreed on with keys", ["fast", "secure"], "v4"],
  ["fast without keys", ["fast"], "v4"],
  ["compat", ["compat"], "v4"],
];

describe.each(CASES)("services through tunnels, %s", NEEDS, (_name, modes, family) => {
  let edge: EdgeTunnels;

  beforeAll(async () => {
    // One of them rehearses, as tunnels do in earnest: what it is told meanwhile waits.
    edge = await EdgeTunnels.open(modes, { underlayFamily: family, rehearses: family === "v6" });
    await edge.serveAll("a1", "b1", "c1");
    edge.apply([webService(["b", "c"])], family);
  }, SETUP_MS);

  afterAll(() => edge?.close());

  test("workloads of two hosts reach each other, and echoes come from the service", () => {
    const { network } = edge;
    for (const ip of [overlay.v4("b", 1), overlay.v6("b", 1), "10.30.0.1", "fdff:2000::1"]) {
      expect(network.exec("a2", "ping", "-c", "1", "-W", "5", ip)).toContain(`from ${ip}`);
    }
  });

  test.each(["10.30.0.1", "fdff:2000::1"])("round-robin: %s", (ip) => {
    const answers = Array.from({ length: 4 }, () => edge.get("a2", ip));
    expect(answers.filter((name) => name === "b1")).toHaveLength(2);
    expect(answers.filter((name) => name === "c1")).toHaveLength(2);
  });

  test.each(["10.30.0.3", "fdff::3"])("one instance: %s", (ip) => {
    expect(edge.get("a2", ip)).toBe("c1");
    expect(edge.get("b2", ip)).toBe("c1");
  });

  test("a client on the server's own host gets there, too", () => {
    for (const ip of ["10.30.0.3", "fdff::3"]) expect(edge.get("c2", ip)).toBe("c1");
    expect(edge.get("b2", "10.30.0.2")).toBe("b1");
  });

  test.each(["10.30.0.3", "fdff::3"])("many bytes come as they were sent: %s", (ip) => {
    expect(edge.isBulkRight("a2", ip)).toBe(true);
    expect(edge.isBulkRight("c2", ip)).toBe(true);
  });

  test.each(["10.30.0.3", "fdff::3"])("datagrams, also in fragments: %s", (ip) => {
    expect(edge.echo("a2", ip, 100)).toBe(`c1 true ${ip}`);
    expect(edge.echo("a2", ip, 4000)).toBe(`c1 true ${ip}`);
  });
});
