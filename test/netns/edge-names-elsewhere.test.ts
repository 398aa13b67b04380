import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { requires } from "../support/requires.ts";
import { addressesOf, EdgeHosts, SOON } from "./edge-hosts.ts";

const run = promisify(execFile);
const AVAHI = fileURLToPath(new URL("./avahi-resolve.mjs", import.meta.url));
const NEEDED = requires("linux", "root", "ip", "nft", "dig", "avahi-daemon", "avahi-resolve");

describe("names of services on other machines", NEEDED, () => {
  test("are looked up when they are asked for, and followed from then on", async () => {
    const hosts = new EdgeHosts();
    const manager = await hosts.startManager();
    const token = ["--token-file", await hosts.tokenFile()];
    await Promise.all([
      hosts.join("a", ...token, "--dns-forward", "192.168.1.1"),
      hosts.join("b", ...token),
    ]);
    await hosts.deploy("a", "client", 0);
    const ports = { portMappings: "8080:80;9090:90/udp" };
    const web = addressesOf(await hosts.deploy("b", "Web.shop", 0, ports));
    const cache = addressesOf(await hosts.deploy("b", "cache", 0));
    const db = addressesOf(await hosts.deploy("b", "db", 3));

    const inClient = async (...command: readonly string[]): Promise<string> => {
      const name = hosts.stage("a").nameOf("client0");
      const { stdout } = await run("ip", ["netns", "exec", name, ...command]).catch((why) => why);
      return String(stdout).trim();
    };
    const dig = (...args: readonly string[]) =>
      inClient("dig", "+short", "+time=5", "+tries=1", ...args);
    const table = async () => JSON.stringify(await hosts.stage("a").rest("/table"));

    expect(await table()).not.toMatch(/Web|cache|db/);
    await expect.poll(() => dig("closest.web.shop"), SOON).toBe(web("Closest"));
    expect(await table()).toMatch(/Web\.shop/);
    expect(await table()).not.toMatch(/cache|db/);
    expect(
      await Promise.all([
        dig("web.shop", "AAAA"),
        dig("0.WEB.shop", "+tcp"),
        dig("_80._tcp.web.shop", "SRV"),
        dig("_90._udp.rr.web.shop", "SRV"),
        dig("1.web.shop"),
      ]),
    ).toEqual([
      web("RR", "v6"),
      web("InstanceNumber"),
      "0 1 80 0.web.shop.",
      "0 1 90 rr.web.shop.",
      "",
    ]);
    const getent = (database: string) => inClient("getent", database, "cache");
    await expect.poll(() => getent("ahostsv4"), SOON).toContain(cache("RR"));
    expect(await getent("ahostsv6")).toContain(cache("RR", "v6"));

    // Avahi is another program that speaks mDNS.
    const avahi = (...args: readonly string[]) => inClient(process.execPath, AVAHI, ...args);
    await expect
      .poll(() => avahi("-4", "db.local", "3.db.local"), SOON)
      .toBe(`db.local ${db("RR")}\n3.db.local ${db("InstanceNumber")}`);
    expect(await avahi("-6", "rr.db.local")).toBe(`rr.db.local ${db("RR", "v6")}`);

    // What changes is heard of at once, as for every service that is followed.
    await hosts.deploy("b", "cache", 1);
    await expect.poll(() => dig("1.cache"), SOON).not.toBe("");
    await hosts.stage("b").rest("/docker/undeploy", { serviceName: "cache.instance.1" });
    await expect.poll(() => dig("1.cache"), SOON).toBe("");
    // A name that was nobody's is found a while after it is somebody's.
    expect(await dig("late.local")).toBe("");
    const late = addressesOf(await hosts.deploy("b", "late", 0));
    await expect.poll(() => dig("late.local"), SOON).toBe(late("RR"));
    // Without a manager names of before are known.
    await manager.stop("SIGKILL");
    expect(await dig("rr.cache")).toBe(cache("RR"));
  }, 120_000);
});
