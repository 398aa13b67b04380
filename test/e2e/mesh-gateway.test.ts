import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { request } from "undici";
import { describe, expect, onTestFinished, test } from "vitest";
import { freePortBlock } from "../support/free-ports.ts";
import { requires } from "../support/requires.ts";
import { type ManagerPlace, managerPlace } from "./manager-fixture.ts";
import { identityArgs, spiffe } from "./mesh-fixture.ts";
import { makeStateFolder, NO_PORTS, startUp, type Up } from "./up-fixture.ts";

const LATER = { timeout: 30_000, interval: 100 };
const CHECKS = "period 200 up 1 down 1";

/** A program that says its name over HTTP. @returns its port, and its end */
async function startProgram(name: string): Promise<{ port: number; stop: () => void }> {
  const server = createServer((_, answer) => answer.end(name));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const stop = (): void => {
    server.closeAllConnections();
    server.close();
  };
  onTestFinished(stop);
  return { port: (server.address() as AddressInfo).port, stop };
}

async function startWithIdentity(brain: ManagerPlace, service: string): Promise<Up> {
  const state = makeStateFolder();
  const identity = await identityArgs(brain, service, state);
  return startUp(state, [...NO_PORTS, "--loops", "1", ...identity]);
}

/** The way in of a service: for the gateway alone. */
async function startSidecar(brain: ManagerPlace, service: string, port: number, program: number) {
  const up = await startWithIdentity(brain, service);
  const lines = [
    `add server-group app ${CHECKS}`,
    `add server app to server-group app address 127.0.0.1:${program}`,
    "add upstream app",
    "add server-group app to upstream app",
    `add tcp-lb entrance address 127.0.0.1:${port} upstream app cert-key identity peers ${spiffe("gate")}`,
    `add smart-node-delegate self service ${service} address 127.0.0.1 port ${port} check-address 127.0.0.1:${program} period 200`,
  ];
  for (const line of lines) await up.command(line);
  return up;
}

/** What is answered for a host, or why nothing is. */
async function ask(port: number, host: string): Promise<string> {
  try {
    const headers = { host, connection: "close" };
    const options = { headers, signal: AbortSignal.timeout(5000) };
    const { statusCode, body } = await request(`http://127.0.0.1:${port}/`, options);
    const text = await body.text();
    return statusCode === 200 ? text : `failed: ${statusCode}`;
  } catch (error) {
    return `failed: ${String(error)}`;
  }
}

describe("a gateway", requires("linux"), () => {
  test("has no program of its own, and leads by host to the services that it follows", async () => {
    const brain = await managerPlace();
    await brain.start();
    const first = await freePortBlock(4);
    const programs = { shop: await startProgram("shop"), news: await startProgram("news") };
    const [gate] = await Promise.all([
      startWithIdentity(brain, "gate"),
      startSidecar(brain, "shop", first + 1, programs.shop.port),
      startSidecar(brain, "news", first + 2, programs.news.port),
    ]);
    await gate.command("add upstream web");
    for (const service of ["shop", "news"]) {
      const tls = `tls identity peers ${spiffe(service)}`;
      await gate.command(
        `add server-group ${service}-in ${CHECKS} ${tls} hint-host ${service}.example`,
      );
      await gate.command(
        `add smart-group-delegate ${service} service ${service} server-group ${service}-in`,
      );
      await gate.command(`add server-group ${service}-in to upstream web`);
    }
    await gate.command(`add tcp-lb web address 127.0.0.1:${first} upstream web protocol http`);
    for (const service of ["shop", "news"]) {
      await expect.poll(() => ask(first, `${service}.example`), LATER).toBe(service);
    }
    // Only by the gateway.
    expect(await ask(first + 1, "shop.example")).toMatch(/^failed/);

    // A service whose program goes, and comes back on another machine, so to speak.
    programs.shop.stop();
    await expect.poll(() => ask(first, "shop.example"), LATER).toMatch(/^failed/);
    await expect.poll(() => ask(first, "news.example"), LATER).toBe("news");
    const next = await startProgram("shop again");
    await startSidecar(brain, "shop", first + 3, next.port);
    await expect.poll(() => ask(first, "shop.example"), LATER).toBe("shop again");
  }, 120_000);
});
