import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { requires } from "../support/requires.ts";
import { EdgeHosts, SOON } from "./edge-hosts.ts";
import { followEvents } from "./follow-events.ts";

const NEEDED = requires("linux", "root", "ip", "nft");
const WRITTEN_DOWN = ["edge.json", join("membership", "view.json")];

/** Which instances of a service the manager knows, and where. */
async function instancesOf(hosts: EdgeHosts, service: string): Promise<readonly string[]> {
  const rows = (await hosts.table(service)).matchAll(/"instance":(\d+),"name".*?"node":"(\w+)"/g);
  return [...rows].map(([, instance, node]) => `${instance} ${node}`);
}

describe("what a manager believes of its nodes", NEEDED, () => {
  test("is what they have, not what one told and did not write down", {
    timeout: 120_000,
  }, async () => {
    const hosts = new EdgeHosts();
    await hosts.startManager();
    const token = ["--token-file", await hosts.tokenFile()];
    const node = await hosts.join("b", ...token);
    await hosts.deploy("b", "web", 0);
    await expect.poll(() => instancesOf(hosts, "web"), SOON).toEqual(["0 b"]);
    await expect.poll(() => hosts.readState("b", WRITTEN_DOWN[1] ?? ""), SOON).toContain("web#0");
    const { folder } = hosts.stage("b");
    for (const name of WRITTEN_DOWN) copyFileSync(join(folder, name), join(folder, `${name}.then`));
    await hosts.deploy("b", "web", 1);
    await expect.poll(() => instancesOf(hosts, "web"), SOON).toEqual(["0 b", "1 b"]);
    await node.stop("SIGKILL");
    for (const name of WRITTEN_DOWN) copyFileSync(join(folder, `${name}.then`), join(folder, name));
    await hosts.join("b");
    await expect.poll(() => instancesOf(hosts, "web"), SOON).toEqual(["0 b"]);
  });

  test("is told to a node whose instance another one took over", { timeout: 120_000 }, async () => {
    const hosts = new EdgeHosts();
    await hosts.startManager();
    const token = ["--token-file", await hosts.tokenFile()];
    await Promise.all((["b", "c"] as const).map((host) => hosts.join(host, ...token)));
    await hosts.deploy("b", "web", 0);
    await hosts.deploy("b", "other", 0);
    hosts.ip("router", "link set to-b down");
    // Not before it counts as dead.
    await expect.poll(() => instancesOf(hosts, "web"), SOON).toEqual([]);
    await hosts.deploy("c", "web", 0);
    const events = followEvents(hosts.stage("b"));
    hosts.ip("router", "link set to-b up");
    const refused = await events.until(/event: refused\ndata: .*/);
    expect(refused).toContain('"serviceName":"web.instance.0"');
    expect(refused).toContain("instance 0 of default/web runs on node c");
    await expect.poll(() => instancesOf(hosts, "other"), SOON).toEqual(["0 b"]);
    await hosts.stage("c").rest("/docker/undeploy", { serviceName: "web.instance.0" });
    const all = await events.until(/event: accepted\ndata: .*web\.instance\.0/);
    expect(all).not.toMatch(/event: (refused|accepted)\ndata: .*other\.instance/);
    expect(await instancesOf(hosts, "web")).toEqual(["0 b"]);
  });
});
