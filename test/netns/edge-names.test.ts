import { execFile, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { decode, encode } from "dns-packet";
import { describe, expect, onTestFinished, test } from "vitest";
import { watchReadable } from "../../src/platform/linux/binding.ts";
import { close } from "../../src/platform/linux/io-calls.ts";
import { removeNamedNamespace } from "../../src/platform/linux/named-namespace.ts";
import { requires } from "../support/requires.ts";
import { EdgeStage, OUTSIDE_IP } from "./edge-stage.ts";
import { openBound, receiveFrom, sendTo } from "./sockets.ts";

const run = promisify(execFile);
const MDNS_CLIENT = fileURLToPath(new URL("./mdns-client.mjs", import.meta.url));
const MDNS_LISTENER = fileURLToPath(new URL("./mdns-listener.mjs", import.meta.url));
const SOON = { timeout: 15_000, interval: 50 };
const BRIDGE = { v4: "10.18.0.65", v6: "fc00::101" } as const;
const NEEDED = requires("linux", "root", "ip", "nft", "dig");
const WEB = [0, 1].map((instanceNumber) => ({
  appName: "web.shop",
  instanceNumber,
  portMappings: `${8080 + instanceNumber}:80;${9090 + instanceNumber}:90/udp`,
  serviceIp: [
    { IpType: "RR", Address: "10.30.0.1", Address_v6: "fdff::1" },
    { IpType: "Closest", Address: "10.30.0.2" },
    { IpType: "InstanceNumber", Address: `10.30.1.${instanceNumber}` },
  ],
}));
const MANY = `${"m".repeat(60)}.shop`;

/** Knows `known.example`, and that there is nothing else. */
function serveOthers(stage: EdgeStage): void {
  const fd = stage.outside.run(() => openBound("UDP", OUTSIDE_IP.v4, 53));
  const watch = watchReadable(fd, () => {
    const datagram = receiveFrom(fd);
    if (typeof datagram === "number") return;
    const { id, questions = [] } = decode(datagram.bytes);
    const [question] = questions;
    const isKnown = question?.name === "known.example" && question.type === "A";
    const answer = { type: "A", name: "known.example", ttl: 60, data: "203.0.113.7" } as const;
    const [rcode, answers] = isKnown ? [0, [answer]] : [3, []];
    const reply = encode({ type: "response", id: id ?? 0, flags: rcode, questions, answers });
    sendTo(fd, reply, datagram.from);
  });
  onTestFinished(() => {
    watch.close();
    close(fd);
  });
}

/** What a program prints that runs as one would in a workload. */
async function inWorkload(containerId: string, ...command: readonly string[]): Promise<string> {
  const name = containerId.replace("netns:", "");
  const { stdout } = await run("ip", ["netns", "exec", name, ...command]).catch((error) => error);
  return String(stdout).trim();
}

async function startShop(stage: EdgeStage, ...args: readonly string[]): Promise<string> {
  await stage.start("--subnet", "10.18.0.64/26", "--subnet", "fc00::100/120", ...args);
  for (const one of WEB) {
    const containerId = stage.containerId(`web${one.instanceNumber}`);
    expect(await stage.rest("/docker/deploy", { containerId, ...one })).toMatchObject({
      status: 200,
    });
  }
  const client = stage.containerId("client");
  const deployment = { containerId: client, appName: "client", instanceNumber: 0 };
  expect(await stage.rest("/docker/deploy", deployment)).toMatchObject({ status: 200 });
  return client;
}

describe("names on an edge node", NEEDED, () => {
  test("workloads ask the bridge for services and all others, over UDP and TCP, v4 and v6", async () => {
    const stage = new EdgeStage();
    serveOthers(stage);
    const client = await startShop(stage, "--dns-forward", OUTSIDE_IP.v4);
    const dig = (...args: readonly string[]) =>
      inWorkload(client, "dig", "+time=5", "+tries=1", ...args);
    const short = async (...args: readonly string[]) => {
      const text = await dig("+short", ...args);
      return text === "" ? [] : text.split("\n").sort();
    };
    const status = async (...args: readonly string[]) =>
      /status: (\w+)/.exec(await dig(...args))?.[1];
    expect(
      await Promise.all([
        short("web.shop"),
        short("web.shop", "AAAA", `@${BRIDGE.v6}`),
        short("RR.web.shop", "+tcp"),
        short("closest.web.shop", `@${BRIDGE.v6}`, "+tcp"),
        short("1.web.shop"),
        short("0.client"),
        short("client", "AAAA"),
        short("rr.web.shop.local"),
        short("_80._tcp.web.shop", "SRV"),
        short("_90._udp.rr.web.shop", "SRV"),
        short("known.example"),
        short("known.example", `@${BRIDGE.v6}`, "+tcp"),
        short("-x", "10.30.0.1"),
        short("-x", "fdff::1", "+tcp"),
        short("-x", "10.18.0.68"),
        short("-x", "fc00::104", `@${BRIDGE.v6}`),
      ]),
    ).toEqual([
      ["10.30.0.1"],
      ["fdff::1"],
      ["10.30.0.1"],
      ["10.30.0.2"],
      ["10.30.1.1"],
      ["10.18.0.68"],
      ["fc00::104"],
      ["10.30.0.1"],
      ["0 1 80 0.web.shop.", "0 1 80 1.web.shop."],
      ["0 1 90 rr.web.shop."],
      ["203.0.113.7"],
      ["203.0.113.7"],
      ["rr.web.shop."],
      ["rr.web.shop."],
      ["0.client."],
      ["0.client."],
    ]);
    expect(
      await Promise.all([
        status("closest.web.shop", "AAAA"),
        status("7.web.shop"),
        status("unknown.example"),
        status("nobody.local"),
        status("web.shop", "CH", "TXT"),
      ]),
    ).toEqual(["NOERROR", "NXDOMAIN", "NXDOMAIN", "NXDOMAIN", "REFUSED"]);
    // Who is not a workload is not answered.
    const stranger = stage.outside.run(() =>
      run("dig", ["+time=1", "+tries=1", `@${BRIDGE.v4}`, "web.shop"]).catch(({ code }) => code),
    );
    expect(await stranger).toBe(9);
  });

  test("reverse names of the edge wait for no resolver", async () => {
    const stage = new EdgeStage();
    const client = await startShop(stage, "--dns-forward", OUTSIDE_IP.v4);
    // It is silent.
    const fd = stage.outside.run(() => openBound("UDP", OUTSIDE_IP.v4, 53));
    onTestFinished(() => void close(fd));
    const status = async (ip: string) =>
      /status: (\w+)/.exec(
        await inWorkload(client, "dig", "+time=1", "+tries=1", `@${BRIDGE.v4}`, "-x", ip),
      )?.[1];
    expect(
      await Promise.all(
        ["10.30.0.2", "10.30.9.9", BRIDGE.v4, "fdff::9", "203.0.113.7"].map((ip) => status(ip)),
      ),
    ).toEqual(["NOERROR", "NXDOMAIN", "NXDOMAIN", "NXDOMAIN", undefined]);
  });

  test("more addresses than a datagram holds are asked for over TCP", async () => {
    const stage = new EdgeStage();
    const client = await startShop(stage);
    const serviceIp = Array.from({ length: 16 }, (_, place) => ({
      IpType: "RR",
      Address: `10.30.2.${place}`,
    }));
    const many = { containerId: stage.containerId("many"), appName: MANY, instanceNumber: 0 };
    await stage.rest("/docker/deploy", { ...many, serviceIp });
    const cut = await inWorkload(client, "dig", "+ignore", MANY);
    expect(cut).toMatch(/flags: qr aa tc rd ra; QUERY: 1, ANSWER: 0/);
    const whole = await inWorkload(client, "dig", "+short", MANY);
    expect(whole.split("\n")).toHaveLength(16);
  });

  test("a namespace that the node made is told its resolver, and that goes with it", async () => {
    const stage = new EdgeStage();
    serveOthers(stage);
    const client = await startShop(stage, "--dns-forward", OUTSIDE_IP.v4);
    const path = `/etc/netns/${client.replace("netns:", "")}`;
    expect(readFileSync(`${path}/resolv.conf`, "utf8")).toContain(
      `nameserver ${BRIDGE.v4}\nnameserver ${BRIDGE.v6}\n`,
    );
    const getent = async (database: string, name: string) =>
      (await inWorkload(client, "getent", database, name)).split(/\s/)[0];
    expect(
      await Promise.all([
        getent("ahostsv4", "web.shop"),
        getent("ahostsv6", "web.shop"),
        getent("ahostsv4", "closest.web.shop"),
        getent("hosts", "1.web.shop"),
        getent("ahostsv4", "known.example"),
        getent("hosts", "unknown.example"),
      ]),
    ).toEqual(["10.30.0.1", "fdff::1", "10.30.0.2", "10.30.1.1", "203.0.113.7", ""]);
    await stage.rest("/docker/undeploy", { serviceName: "web.shop.instance.1" });
    expect(await getent("hosts", "1.web.shop")).toBe("");
    await stage.rest("/docker/undeploy", { serviceName: "client.instance.0" });
    expect(existsSync(path)).toBe(false);
    // Also where somebody else has removed the namespace.
    const removed = stage.containerId("removed").replace("netns:", "");
    const asked = { containerId: `netns:${removed}`, appName: "removed", instanceNumber: 0 };
    await stage.rest("/docker/deploy", asked);
    expect(existsSync(`/etc/netns/${removed}`)).toBe(true);
    removeNamedNamespace(removed);
    await stage.rest("/docker/undeploy", { serviceName: "removed.instance.0" });
    expect(existsSync(`/etc/netns/${removed}`)).toBe(false);
    const others = stage.madeByOthers("others");
    const deployment = { containerId: others, appName: "others", instanceNumber: 0 };
    await stage.rest("/docker/deploy", deployment);
    expect(existsSync(`/etc/netns/${others.replace("netns:", "")}`)).toBe(false);
  });

  test("those who ask all on the bridge hear of services below .local, v4 and v6", async () => {
    const stage = new EdgeStage();
    const client = await startShop(stage, "--dns", "off");
    const ask = async (family: string, name: string, type: string) => {
      const args = [MDNS_CLIENT, family, "eth0", name, type];
      return JSON.parse(await inWorkload(client, process.execPath, ...args));
    };
    expect(await ask("4", "web.shop.local", "A")).toEqual([
      { name: "web.shop.local", type: "A", ttl: 5, class: "IN", flush: true, data: "10.30.0.1" },
    ]);
    expect(await ask("6", "rr.web.shop.local", "AAAA")).toMatchObject([{ data: "fdff::1" }]);
    // Another bridge: those who listened on the one before listen there.
    const inside = stage.inside(client);
    const links = () => stage.exec(inside, "ip", ["-o", "link"]);
    const before = links();
    stage.exec(stage.host, "ip", ["link", "delete", "portolan0"]);
    await expect.poll(links, { timeout: 10_000 }).not.toBe(before);
    const route = () => stage.exec(inside, "ip", ["-6", "route", "show", "default"]);
    await expect.poll(route, { timeout: 10_000 }).toContain("eth0");
    expect(await ask("4", "1.web.shop.local", "A")).toMatchObject([{ data: "10.30.1.1" }]);
    expect(await ask("6", "_80._tcp.1.web.shop.local", "SRV")).toMatchObject([
      { data: { port: 80, target: "1.web.shop.local" } },
    ]);
    expect(existsSync(`/etc/netns/${client.replace("netns:", "")}`)).toBe(false);
    const sockets = stage.exec(stage.host, "ss", ["-Hlnu"]);
    expect(sockets).not.toMatch(/:53\s/);
    expect(sockets).toContain("224.0.0.251:5353");
  });

  test.each(["4", "6"])(
    "all on the bridge are told of services that come and go, over IPv%s",
    async (family) => {
      const stage = new EdgeStage();
      const client = await startShop(stage, "--dns", "off");
      const inside = stage.inside(client);
      const listener = inside.run(() => spawn(process.execPath, [MDNS_LISTENER, family, "eth0"]));
      onTestFinished(() => void listener.kill("SIGKILL"));
      let heard = "";
      listener.stdout.setEncoding("utf8").on("data", (text: string) => {
        heard += text;
      });
      const times = (line: string) => heard.split("\n").filter((each) => each === line).length;
      await expect.poll(() => heard, SOON).toContain("listening");
      const serviceIp = [{ IpType: "RR", Address: "10.30.0.9" }];
      const containerId = stage.containerId("late");
      const late = { containerId, appName: "late", instanceNumber: 0, serviceIp };
      expect(await stage.rest("/docker/deploy", late)).toMatchObject({ status: 200 });
      await expect.poll(() => times("late.local A 10.30.0.9 5"), SOON).toBe(2);
      await stage.rest("/docker/undeploy", { serviceName: "late.instance.0" });
      await expect.poll(() => times("late.local A 10.30.0.9 0"), SOON).toBe(1);
      expect(times("late.local A 10.30.0.9 5")).toBe(2);
      expect(heard).not.toMatch(/web.* 0\n/);
    },
  );
});
