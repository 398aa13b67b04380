import { describe, expect, test } from "vitest";
import { Mosquitto } from "../support/mosquitto.ts";
import { MqttCluster } from "../support/mqtt-cluster.ts";
import { requires } from "../support/requires.ts";
import { EdgeHosts } from "./edge-hosts.ts";

const SOON = { timeout: 30_000, interval: 50 };
const BROKER = { address: "192.168.3.2", port: 10_003 };
const WEB = "shop.test.web.prod";
const CLIENT = "shop.test.till.prod";
const STORE = "shop.test.store.prod";
const WEB_IP = "10.30.0.10";
const NOBODY_IP = "10.30.9.9";

describe(
  "a cluster that speaks MQTT",
  requires("linux", "root", "ip", "nft", "curl", "mosquitto"),
  () => {
    test("has nodes that talk by service addresses", { timeout: 120_000 }, async () => {
      const hosts = new EdgeHosts();
      const { host: place } = hosts.stage("c");
      const broker = new Mosquitto({ place, ...BROKER });
      await broker.start();
      const cluster = await MqttCluster.start(broker);
      cluster.addJob(WEB, WEB_IP, ["10.30.0.11", "10.30.0.12", "10.30.0.13"]);
      cluster.addJob(CLIENT, "10.30.0.20", ["10.30.0.21", "10.30.0.22"]);
      cluster.addJob(STORE, "10.30.0.30", ["10.30.0.31"]);
      const mqtt = ["--mqtt", `${BROKER.address}:${BROKER.port}`, "--mqtt-idle", "3s"];
      const start = (host: "a" | "b") =>
        hosts.stage(host).start("--node", host, ...mqtt, "--mqtt-id", `worker-${host}`);
      await Promise.all([start("a"), start("b")]);
      expect(cluster.count(/ subnet \{"METHOD":"GET"\}/)).toBe(2);

      // Names that are no jobs could not be told to the cluster.
      const containerId = hosts.stage("a").containerId("odd");
      const odd = { containerId, appName: "web", instanceNumber: 0 };
      expect((await hosts.stage("a").rest("/docker/deploy", odd)).status).toBe(400);

      await hosts.deploy("a", CLIENT, 0);
      await hosts.deploy("b", WEB, 0);
      await expect.poll(() => cluster.count(/^worker-b service\/deployed/), SOON).toBe(1);
      const deployed = cluster.heard.find((line) => line.startsWith("worker-b service/deployed"));
      expect(deployed).toContain(
        `{"appname":"${WEB}","status":"DEPLOYED","instance_number":0,"nsip":"10.18.0.`,
      );
      expect(deployed).toContain('"host_ip":"192.168.2.2","host_port":"50103"}');
      await expect.poll(() => hosts.answers(`${CLIENT}0`, WEB_IP, 2), SOON).toBe(`${WEB}0`);
      // The server sees the client by the address that means it, as every node of such a cluster sends it.
      const seen = await hosts.stage("a").curl(hosts.inside(`${CLIENT}0`), `http://${WEB_IP}/`, 3);
      expect(seen).toBe(`${WEB}0 10.30.0.21`);
      const nodes = await hosts.stage("a").rest("/nodes");
      expect(JSON.stringify(nodes)).toContain('"mode":"compat"');

      // An update brings an instance, and another takes one away.
      await hosts.deploy("b", WEB, 1);
      await expect.poll(() => hosts.answers(`${CLIENT}0`, WEB_IP, 4), SOON).toBe(`${WEB}0 ${WEB}1`);
      cluster.undeploy(WEB, 0);
      await expect.poll(() => hosts.answers(`${CLIENT}0`, WEB_IP, 4), SOON).toBe(`${WEB}1`);
      await hosts.stage("b").rest("/docker/undeploy", { serviceName: `${WEB}.instance.0` });

      // What nobody has is asked for once, whatever is sent there.
      const nobody = new RegExp(`^worker-a tablequery.*${NOBODY_IP}`);
      expect(await hosts.answers(`${CLIENT}0`, NOBODY_IP, 2)).toBe("failed");
      expect(cluster.count(nobody)).toBe(1);

      // Without the broker traffic goes on; what is deployed meanwhile is told when it is back.
      await broker.kill();
      expect(await hosts.answers(`${CLIENT}0`, WEB_IP, 2)).toBe(`${WEB}1`);
      await hosts.deploy("b", WEB, 2);
      await broker.start();
      await expect.poll(() => hosts.answers(`${CLIENT}0`, WEB_IP, 4), SOON).toBe(`${WEB}1 ${WEB}2`);

      // The host of the servers has another address before the one that it had: its instances are found there.
      const { host: second } = hosts.stage("b");
      for (const words of [
        "address del 192.168.2.2/24 dev up0",
        "address add 192.168.2.7/24 dev up0",
        "address add 192.168.2.2/24 dev up0",
        "route replace default via 192.168.2.1",
      ]) {
        hosts.stage("b").exec(second, "ip", words.split(" "));
      }
      const moved = new RegExp(
        `address-changed \\{"appname":"${WEB}","instance_number":1,"host_ip":"192.168.2.7"`,
      );
      await expect.poll(() => cluster.count(moved), SOON).toBe(1);
      const nodesThen = () => hosts.stage("a").rest("/nodes");
      await expect
        .poll(async () => JSON.stringify(await nodesThen()), SOON)
        .toContain("192.168.2.7:50103");
      await expect.poll(() => hosts.answers(`${CLIENT}0`, WEB_IP, 4), SOON).toBe(`${WEB}1 ${WEB}2`);

      // What is needed is asked for by its name. What nothing uses any more is not followed; what runs here is.
      await hosts.deploy("b", STORE, 0);
      await hosts.deploy("a", CLIENT, 1, { needs: [STORE] });
      const isRemoved = (job: string) => new RegExp(`interest/remove \\{"appname":"${job}"\\}`);
      await expect.poll(() => cluster.count(isRemoved(STORE)), SOON).toBe(1);
      expect(cluster.count(isRemoved(CLIENT))).toBe(0);
      await hosts.stage("b").rest("/docker/undeploy", { serviceName: `${STORE}.instance.0` });
      const isUndeployed = new RegExp(`^worker-b service/undeployed \\{"appname":"${STORE}"`);
      await expect.poll(() => cluster.count(isUndeployed), SOON).toBe(1);
    });
  },
);
