import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { requires } from "../support/requires.ts";
import { EdgeStage, OUTSIDE_IP } from "./edge-stage.ts";

const NODE = ["--subnet", "10.18.0.64/26", "--subnet", "fc00::100/120", "--node", "node-a"];
const RR = { IpType: "RR", Address: "10.30.0.1", Address_v6: "fdff:2000::1" };
const CLOSEST = { IpType: "Closest", Address: "10.30.0.2", Address_v6: "fdff:1000::1" };
const ONE = (number: number) => ({
  IpType: "InstanceNumber",
  Address: `10.30.0.1${number}`,
  Address_v6: `fdff::1${number}`,
});

/** Deploys an instance of `web` that answers with its number. */
async function deployWeb(stage: EdgeStage, number: number): Promise<void> {
  const containerId = stage.containerId(`web${number}`);
  const answer = await stage.rest("/docker/deploy", {
    containerId,
    appName: "web",
    instanceNumber: number,
    serviceIp: [RR, CLOSEST, ONE(number)],
  });
  expect(answer).toMatchObject({ status: 200, body: { serviceName: `web.instance.${number}` } });
  stage.serve(stage.inside(containerId), 80, `web${number}`);
}

describe("services of one edge node", requires("linux", "root", "ip", "nft", "curl"), () => {
  test("are reached by their addresses, each with its policy, and without a manager", async () => {
    const stage = new EdgeStage();
    const first = await stage.start(...NODE);
    const client = stage.containerId("client");
    await stage.rest("/docker/deploy", { containerId: client, appName: "shop", instanceNumber: 0 });
    await deployWeb(stage, 0);
    await deployWeb(stage, 1);
    const inside = stage.inside(client);
    const names = async (url: string, count: number): Promise<readonly string[]> => {
      const answers: string[] = [];
      for (let call = 0; call < count; call += 1) {
        answers.push((await stage.curl(inside, url)).split(" ")[0] ?? "");
      }
      return answers.sort();
    };
    for (const url of ["http://10.30.0.1/", "http://[fdff:2000::1]/", "http://10.30.0.2/"]) {
      expect(await names(url, 4)).toEqual(["web0", "web0", "web1", "web1"]);
    }
    expect(await names("http://10.30.0.11/", 2)).toEqual(["web1", "web1"]);
    expect(await names("http://[fdff::10]/", 2)).toEqual(["web0", "web0"]);
    // The machine itself is a client like others, and an instance reaches itself by its service.
    expect(await stage.curl(stage.host, "http://10.30.0.10/")).toContain("web0");
    const web0 = stage.inside(stage.containerId("web0"));
    expect(await stage.curl(web0, "http://10.30.0.10/")).toContain("web0 10.30.0.10");
    expect(stage.exec(inside, "ping", ["-c1", "-W5", "fdff::11"])).toContain("from fdff::11");

    expect(await stage.rest("/table")).toMatchObject({
      body: {
        table: [
          { appName: "shop", serviceIp: [] },
          { appName: "web", instanceNumber: 0, nsAddress: "10.18.0.67", isLocal: true },
          { appName: "web", instanceNumber: 1, nsAddressv6: "fc00::104", nodeIp: "192.0.2.1" },
        ],
      },
    });
    const { body } = await stage.rest("/flows");
    expect(body).toMatchObject({
      flows: expect.arrayContaining([
        expect.objectContaining({
          protocol: "tcp",
          source: expect.stringMatching(/^10\.18\.0\.66:\d+$/),
          destination: "10.30.0.11:80",
          instance: "web.instance.1",
          node: "node-a",
        }),
      ]),
    });

    // An address of another service is refused, and so is the one that stands for local clients.
    const other = { containerId: stage.containerId("other"), appName: "other", instanceNumber: 0 };
    expect(await stage.rest("/docker/deploy", { ...other, serviceIp: [RR] })).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining("10.30.0.1 is an address of web") },
    });
    const reserved = { IpType: "RR", Address: "10.30.255.254" };
    expect(await stage.rest("/docker/deploy", { ...other, serviceIp: [reserved] })).toMatchObject({
      status: 400,
      body: { problems: [{ path: "serviceIp[0].Address" }] },
    });

    // An instance that goes takes its address along, and leaves the others.
    await stage.rest("/docker/undeploy", { serviceName: "web.instance.1" });
    expect(await names("http://10.30.0.1/", 3)).toEqual(["web0", "web0", "web0"]);

    // Somebody removes the link of the tunnel: it is made again.
    stage.exec(stage.host, "ip", ["link", "delete", "portolan-tun"]);
    await first.waitFor(/the tunnel is open again/, "stderr");
    expect(await names("http://10.30.0.1/", 1)).toEqual(["web0"]);

    // Killed and started again, services are reached as before, with the same key.
    const keyFile = join(stage.folder, "tunnel.key");
    const { mtimeMs, mode } = statSync(keyFile);
    expect(mode & 0o777).toBe(0o600);
    await first.stop("SIGKILL");
    expect(stage.exec(stage.host, "ip", ["route", "get", OUTSIDE_IP.v4])).toContain("up0");
    await stage.start(...NODE);
    expect(await names("http://10.30.0.1/", 1)).toEqual(["web0"]);
    expect(statSync(keyFile).mtimeMs).toBe(mtimeMs);
    expect(readdirSync(stage.folder)).not.toContain("tunnel.key.bak");
  });
});
