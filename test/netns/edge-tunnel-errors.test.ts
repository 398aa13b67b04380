import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { requires } from "../support/requires.ts";
import { EdgeTunnels, SETUP_MS, webService } from "./edge-tunnels.ts";

/** What a socket is told that sends a datagram where nobody listens. */
const ASK = `
  const [ip, port] = process.argv.slice(1);
  const udp = require("node:dgram").createSocket(ip.includes(":") ? "udp6" : "udp4");
  udp.on("error", (error) => {
    console.log(error.code);
    process.exit();
  });
  udp.connect(Number(port), ip, () => udp.send("x"));
  setTimeout(() => process.exit(1), 8000);`;

describe("errors through tunnels", requires("linux", "root", "ip", "curl", "ping"), () => {
  let edge: EdgeTunnels;

  beforeAll(async () => {
    edge = await EdgeTunnels.open(["secure"]);
    await edge.serveAll("b1", "c1");
    edge.apply([webService(["b", "c"])]);
  }, SETUP_MS);

  afterAll(() => edge?.close());

  const ask = (ip: string, port: number) =>
    edge.network.exec("a2", process.execPath, "-e", ASK, ip, String(port)).trim();

  test.each(["10.30.0.3", "fdff::3"])("a port that nobody listens on is refused: %s", (ip) => {
    expect(edge.get("a2", ip)).toBe("c1");
    expect(ask(ip, 81)).toBe("ECONNREFUSED");
  });

  test("a way that gets narrower is found out, and bytes go on", () => {
    const { network } = edge;
    network.ip("router", "link set to-c mtu 1360");
    network.ip("c", "link set eth0 mtu 1360");
    for (const ip of ["10.30.0.3", "fdff::3"]) expect(edge.isBulkRight("a2", ip)).toBe(true);
    // The first one may be lost; a router says so, and the host sends the next ones in pieces.
    const args = ["-c", "5", "-i", "0.2", "-W", "2", "-s", "1340", "-M", "do", "10.30.0.3"];
    const { stdout } = network.inside("a2", () => spawnSync("ping", args, { encoding: "utf8" }));
    expect(stdout).toMatch(/[45] received/);
  });

  test("a way that is too narrow for the shortest packets of IPv6 takes them in pieces", () => {
    const { network } = edge;
    network.ip("router", "link set to-c mtu 1280");
    network.ip("c", "link set eth0 mtu 1280");
    for (const ip of ["10.30.0.3", "fdff::3"]) expect(edge.isBulkRight("a2", ip)).toBe(true);
  });

  test("what nobody serves is refused at once", () => {
    edge.apply([webService([])]);
    for (const ip of ["10.30.0.1", "fdff:2000::1"]) {
      expect(() => edge.get("a2", ip)).toThrow(/refused|Couldn't connect|Could not connect/);
      expect(ask(ip, 80)).toBe("ECONNREFUSED");
    }
  });
});
