import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { CliProcess } from "../support/cli.ts";
import { startCli } from "../support/cli.ts";
import { requires } from "../support/requires.ts";
import { EdgeStage } from "./edge-stage.ts";

async function start(stage: EdgeStage): Promise<CliProcess> {
  const args = ["--node", "solo", "--state", stage.folder, "--listen", "off"];
  const cli = stage.host.run(() => startCli(["edge", "up", ...args]));
  await cli.waitFor(/remove everything:/);
  return cli;
}

describe("edge up", requires("linux", "root", "ip", "nft", "curl"), () => {
  test("is an edge in one command, again after its end, and leaves nothing", async () => {
    const stage = new EdgeStage();
    const before = stage.traces();
    const first = await start(stage);
    expect(first.stdout).toContain(`--unix-socket ${join(stage.folder, "edge.sock")}`);
    const web = stage.containerId("web");
    const client = stage.containerId("client");
    const deploy = (containerId: string, appName: string) =>
      stage.rest("/docker/deploy", { containerId, appName, instanceNumber: 0 });
    expect(await deploy(web, "web")).toMatchObject({
      status: 200,
      body: { serviceIp: expect.arrayContaining([{ IpType: "RR", Address: "10.30.0.1" }]) },
    });
    expect(await deploy(client, "client")).toMatchObject({ status: 200 });
    stage.serve(stage.inside(web), 80, "web");
    expect(await stage.curl(stage.inside(client), "http://10.30.0.1/")).toMatch(/^web /);
    const table = await stage.cli("manager", "table", "web", "--state", stage.folder);
    expect([table.code, table.stdout]).toEqual([0, expect.stringContaining("solo")]);
    expect((await first.stop("SIGINT")).code).toBe(130);

    const second = await start(stage);
    expect(await stage.curl(stage.inside(client), "http://10.30.0.1/")).toMatch(/^web /);
    const status = await stage.cli("edge", "status", "--state", stage.folder);
    expect([status.code, status.stdout]).toEqual([0, expect.stringContaining("web.instance.0")]);
    expect((await second.stop()).code).toBe(0);
    const cleaned = await stage.cli("cleanup", "--edge", "--state", stage.folder);
    expect(cleaned.stdout).toContain("nothing is left");
    expect(stage.traces()).toBe(before);
  });
});
