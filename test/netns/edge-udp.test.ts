import { describe, expect, onTestFinished, test } from "vitest";
import { watchReadable } from "../../src/platform/linux/binding.ts";
import { close } from "../../src/platform/linux/io-calls.ts";
import type { NetworkNamespace } from "../../src/platform/linux/network-namespace.ts";
import { ipAddress } from "../../src/platform/socket-address.ts";
import { requires } from "../support/requires.ts";
import { EdgeStage, NODE_IP, OUTSIDE_IP } from "./edge-stage.ts";
import { openBound, receiveFrom, sendTo } from "./sockets.ts";

const PORT = 5353;

function open(namespace: NetworkNamespace, ip: string, port: number): number {
  const fd = namespace.run(() => openBound("UDP", ip, port));
  onTestFinished(() => void close(fd));
  return fd;
}

/** The next datagram, as text. */
function received(fd: number): Promise<string> {
  return new Promise((resolve) => {
    const watch = watchReadable(fd, () => {
      const datagram = receiveFrom(fd);
      if (typeof datagram === "number") return;
      watch.close();
      resolve(datagram.bytes.toString());
    });
  });
}

describe("a published port of UDP", requires("linux", "root", "ip", "nft"), () => {
  test("leads callers that go on calling to the workload that has it now", async () => {
    const stage = new EdgeStage();
    await stage.start("--subnet", "10.18.0.64/26");
    const caller = open(stage.outside, OUTSIDE_IP.v4, 40_000);
    const call = (text: string): void => {
      // One that was told that nobody is there hears of it at the next call.
      const bytes = Buffer.from(text);
      if (sendTo(caller, bytes, ipAddress(NODE_IP.v4, PORT)) < 1) {
        sendTo(caller, bytes, ipAddress(NODE_IP.v4, PORT));
      }
    };
    call("nobody is there yet");
    for (const [name, instanceNumber] of [
      ["a", 0],
      ["b", 1],
    ] as const) {
      const containerId = stage.containerId(name);
      const deployment = { containerId, appName: "dns", instanceNumber };
      const deployed = await stage.rest("/docker/deploy", {
        ...deployment,
        portMappings: `${PORT}:53/udp`,
      });
      expect(deployed).toMatchObject({ status: 200 });
      const server = open(stage.inside(containerId), "0.0.0.0", 53);
      call(`for ${name}`);
      expect(await received(server)).toBe(`for ${name}`);
      const serviceName = `dns.instance.${instanceNumber}`;
      await stage.rest("/docker/undeploy", { serviceName });
    }
  });
});
