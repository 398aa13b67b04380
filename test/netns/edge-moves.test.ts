import { execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { requires } from "../support/requires.ts";
import { addressesOf, EdgeHosts, SOON } from "./edge-hosts.ts";

const NEEDED = requires("linux", "root", "ip", "nft", "conntrack", "curl", "iperf3");
const run = promisify(execFile);
const BULK_BYTES = 2_000_000;

describe("an edge whose machines move and are cut off, and whose ways are bad", NEEDED, () => {
  test("goes on all the same", { timeout: 240_000 }, async () => {
    const hosts = new EdgeHosts();
    await hosts.startManager();
    const token = ["--token-file", await hosts.tokenFile()];
    await Promise.all((["a", "b", "c"] as const).map((host) => hosts.join(host, ...token)));
    await hosts.deploy("a", "shop", 0);
    const web0 = addressesOf(await hosts.deploy("b", "web", 0));
    const web1 = addressesOf(await hosts.deploy("c", "web", 1));
    const answers = () => hosts.answers("shop0", web0("RR"), 6);
    await expect.poll(answers, SOON).toBe("web0 web1");

    // A machine comes to be at another address, while a connection to it is in the middle of its answer.
    const half = hosts.stage("b").serveHalves(hosts.inside("web0"), 81);
    const url = `http://${web0("InstanceNumber")}:81/`;
    const call = hosts.stage("a").curl(hosts.inside("shop0"), url, 60);
    await half.asked;
    hosts.ip(
      "b",
      "addr add 192.168.2.9/24 dev up0",
      "addr del 192.168.2.2/24 dev up0",
      "addr replace 192.168.2.9/24 dev up0",
      "route replace default via 192.168.2.1",
    );
    half.release();
    expect(await call).toBe("first second");
    await expect.poll(answers, SOON).toBe("web0 web1");
    await expect
      .poll(async () => JSON.stringify(await hosts.stage("a").rest("/nodes")), SOON)
      .toContain("192.168.2.9:50103");
    hosts.ip("b", "addr add 192.168.2.2/24 dev up0", "addr del 192.168.2.9/24 dev up0");
    hosts.ip("b", "addr replace 192.168.2.2/24 dev up0", "route replace default via 192.168.2.1");
    await expect.poll(answers, SOON).toBe("web0 web1");

    // Cut off: what ran there leaves the tables of others. On that machine, what is there goes on.
    hosts.ip("router", "link set to-b down");
    await expect.poll(answers, SOON).toBe("web1");
    expect(await hosts.answers("web0", web0("InstanceNumber"), 1)).toBe("web0");
    hosts.ip("router", "link set to-b up");
    await expect.poll(answers, SOON).toBe("web0 web1");

    // The closest instance is the one that is closest now.
    const closest = () => hosts.answers("shop0", web0("Closest"), 2);
    const toB = await hosts.relay("a", "b");
    const toC = await hosts.relay("a", "c");
    toB.weather = { delayMs: 60 };
    await expect.poll(closest, SOON).toBe("web1");
    toB.weather = {};
    toC.weather = { delayMs: 300 };
    await expect.poll(closest, SOON).toBe("web0");
    // Each node tells its manager now and then.
    await expect.poll(() => pairs(hosts), SOON).toEqual(["a b", "a c", "b a", "b c", "c a", "c b"]);

    // Of 20 datagrams one is lost, and some overtake others: all bytes arrive.
    toC.weather = { loseEvery: 20, holdEvery: 33 };
    const server = hosts.inside("web1").run(() => spawn("iperf3", ["-s"], { stdio: "pipe" }));
    onTestFinished(() => void server.kill("SIGKILL"));
    await expect.poll(() => transferred(hosts, web1("InstanceNumber")), SOON).toBeGreaterThan(0);
    const bytes = randomBytes(BULK_BYTES);
    hosts.stage("c").serveBytes(hosts.inside("web1"), 82, bytes);
    const got = await downloaded(hosts, `http://${web1("InstanceNumber")}:82/`);
    expect(got.equals(bytes)).toBe(true);
  });
});

/** Between which nodes `edge status` knows the round-trip time. */
async function pairs(hosts: EdgeHosts): Promise<readonly string[]> {
  const stage = hosts.stage("c");
  const { stdout } = await stage.cli("edge", "status", "--json", "--state", stage.folder);
  return [...stdout.matchAll(/"from":"(\w+)","to":"(\w+)"/g)].map(
    ([, from, to]) => `${from} ${to}`,
  );
}

/**
 * How many bytes of a workload's iperf3 a server has counted; 0 where it did not answer. Not all of them: a sender
 * that has sent all ends the count.
 */
async function transferred(hosts: EdgeHosts, ip: string): Promise<number> {
  const args = ["-c", ip, "-n", String(BULK_BYTES), "--json"];
  const { stdout } = await hosts
    .inside("shop0")
    .run(() => run("iperf3", args, { timeout: 30_000 }))
    .catch(() => ({ stdout: "" }));
  return Number(/"sum_received"[^}]*"bytes":\s*(\d+)/.exec(stdout)?.[1] ?? 0);
}

async function downloaded(hosts: EdgeHosts, url: string): Promise<Buffer> {
  const args = ["--silent", "--show-error", "--max-time", "120", url];
  const options = { encoding: "buffer", maxBuffer: 2 * BULK_BYTES } as const;
  const { stdout } = await hosts.inside("shop0").run(() => run("curl", args, options));
  return stdout;
}
