import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { BrokerLink } from "../../src/daemon/edge/mqtt/broker-link.ts";
import { ClusterMember } from "../../src/daemon/edge/mqtt/cluster-member.ts";
import { nodeTopics } from "../../src/wire/mqtt-edge/cluster-topics.ts";
import { makeCertificates } from "../support/certificates.ts";
import { freePortBlock } from "../support/free-ports.ts";
import { HERE, Mosquitto } from "../support/mosquitto.ts";
import { MqttCluster } from "../support/mqtt-cluster.ts";
import { requires } from "../support/requires.ts";

const SOON = { timeout: 20_000, interval: 20 };
const HOST = "127.0.0.1";
const WEB = "shop.test.web.prod";
const WEB_IP = "10.30.0.10";
const INSTANCE = {
  ...{ appname: WEB, instance_number: 0, nsip: "10.18.0.66", nsipv6: "" },
  ...{ host_ip: "192.0.2.2", host_port: "50103" },
};

const log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

function settingsOf(port: number) {
  const times = { keepAliveSeconds: 5, idleMs: 2000 };
  return { broker: { host: HOST, port }, id: "worker1", tls: undefined, ...times };
}

/** A node without a kernel: what it knows of jobs, in words. */
async function startMember(port: number) {
  const topics = nodeTopics("worker1");
  const world = { jobs: "", inUse: new Set<string>() };
  const link = await BrokerLink.open(
    settingsOf(port),
    {
      onConnected: () => {
        void link.subscribe([topics.tableResult]).then(() => member.onConnected());
      },
      onMessage: (topic, payload) => member.onMessage(topic, payload),
    },
    log,
  );
  const member = new ClusterMember({
    ...{ topics, broker: link, idleMs: 2000, log },
    servicesInUse: async () => world.inUse,
    onJobs: (jobs) => {
      const numbers = jobs.map(([job, all]) => [job, ...all.map(({ number }) => number)].join(" "));
      world.jobs = numbers.join();
    },
  });
  onTestFinished(async () => {
    member.close();
    await link.close();
  });
  await expect.poll(() => link.isConnected, SOON).toBe(true);
  return { member, world };
}

describe("a cluster behind a real broker", requires("linux", "root", "mosquitto"), () => {
  test("is asked, followed, and left when nothing is used", { timeout: 60_000 }, async () => {
    const port = await freePortBlock(1);
    const broker = new Mosquitto({ place: HERE, port });
    await broker.start();
    const cluster = await MqttCluster.start(broker);
    cluster.addJob(WEB, WEB_IP, ["10.30.0.11", "10.30.0.12"]);
    cluster.deploy(INSTANCE);
    const { member, world } = await startMember(port);

    const found = [member.followAddress(WEB_IP), member.followAddress(WEB_IP)];
    expect(await Promise.all(found)).toEqual([true, true]);
    expect(cluster.count(/tablequery.*10\.30\.0\.10/)).toBe(1);
    expect(await member.followAddress("10.30.9.9")).toBe(false);
    expect(await member.followAddress("10.30.9.9")).toBe(false);
    expect(cluster.count(/tablequery.*10\.30\.9\.9/)).toBe(1);

    world.inUse.add(`default/${WEB}`);
    await expect.poll(() => cluster.count(/tablequery.*"sname":"shop/), SOON).toBeGreaterThan(0);
    cluster.deploy({ ...INSTANCE, instance_number: 1, nsip: "10.18.0.67" });
    await expect.poll(() => world.jobs, SOON).toBe(`${WEB} 0 1`);

    // A broker that comes back has forgotten who follows what.
    await broker.kill();
    cluster.undeploy(WEB, 0);
    await broker.start();
    await expect.poll(() => world.jobs, SOON).toBe(`${WEB} 1`);
    cluster.deploy({ ...INSTANCE, instance_number: 0 });
    await expect.poll(() => world.jobs, SOON).toBe(`${WEB} 1 0`);

    expect(cluster.count(/interest\/remove/)).toBe(0);
    world.inUse.clear();
    await expect.poll(() => world.jobs, SOON).toBe("");
    await expect.poll(() => cluster.count(/interest\/remove \{"appname":"shop/), SOON).toBe(1);
  });

  test("takes a node by its certificate only", { timeout: 60_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), "portolan-mqtt-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const [files, others] = await Promise.all(
      ["broker", "other"].map((name) => makeCertificates(folder, name)),
    );
    if (files === undefined || others === undefined) throw new Error("there are no certificates");
    const port = await freePortBlock(1);
    await new Mosquitto({ place: HERE, port, tls: files }).start();
    const heard: string[] = [];
    const open = async (id: string, ca: string, cert?: string, key?: string) => {
      const warn = (_: object, message: string) => heard.push(`${id} ${message}`);
      const settings = { ...settingsOf(port), id, tls: { ca, cert, key } };
      const events = {
        onConnected: () => heard.push(`${id} is connected`),
        onMessage: (topic: string, payload: Uint8Array) =>
          heard.push(`${id} ${topic} ${Buffer.from(payload).toString()}`),
      };
      const link = await BrokerLink.open(settings, events, { ...log, warn });
      onTestFinished(() => link.close());
      return link;
    };
    const link = await open("right", files.caFile, files.certFile, files.keyFile);
    await open("stranger", files.caFile);
    await open("misled", others.caFile, files.certFile, files.keyFile);
    await expect.poll(() => heard.join(), SOON).toContain("right is connected");
    expect(await link.subscribe(["echo"])).toBe(true);
    expect(link.publish("echo", { a: 1 })).toBe(true);
    await expect.poll(() => heard.join(), SOON).toContain('right echo {"a":1}');
    for (const id of ["stranger", "misled"]) {
      await expect.poll(() => heard.join(), SOON).toContain(`${id} the broker of the cluster can`);
      expect(heard.join()).not.toContain(`${id} is connected`);
    }
  });
});
