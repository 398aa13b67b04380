import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { identityFiles } from "../../src/mesh/identity-files.ts";
import { freePortBlock } from "../support/free-ports.ts";
import { LineClient } from "../support/line-client.ts";
import { startNamedServer } from "../support/named-server.ts";
import { requires } from "../support/requires.ts";
import { type ManagerPlace, managerPlace } from "./manager-fixture.ts";
import { identityArgs, spiffe } from "./mesh-fixture.ts";
import { makeStateFolder, NO_PORTS, startUp, type Up } from "./up-fixture.ts";

const LATER = { timeout: 30_000, interval: 100 };
const CHECKS = "period 200 up 1 down 1";
/** A process that takes over announces only after so many checks, when the one before has ended. */
const SLOWLY_UP = 20;

/** A sidecar with the identity of a service, and those that take its place. */
class Sidecar {
  readonly state: string;
  readonly #args: readonly string[];
  up: Up;

  private constructor(args: readonly string[], state: string, up: Up) {
    this.#args = args;
    this.state = state;
    this.up = up;
  }

  static async start(brain: ManagerPlace, service: string): Promise<Sidecar> {
    const state = makeStateFolder();
    const identity = await identityArgs(brain, service, state);
    const args = [...NO_PORTS, "--loops", "1", ...identity, "--announce-ttl", "60s"];
    return new Sidecar(args, state, await startUp(state, args));
  }

  /** @returns the one before, which has given way */
  async takeOver(): Promise<Up> {
    const old = this.up;
    this.up = await startUp(this.state, [...this.#args, "--take-over"]);
    await old.cli.waitFor(/another process has taken over/, "stderr");
    return old;
  }

  /** Whether key, certificate and authority on the disk belong together. */
  get hasWholeIdentity(): boolean {
    const { certFile, keyFile, caFile } = identityFiles(join(this.state, "identity"));
    const certificate = new X509Certificate(readFileSync(certFile));
    const authority = new X509Certificate(readFileSync(caFile));
    return (
      certificate.checkPrivateKey(createPrivateKey(readFileSync(keyFile))) &&
      certificate.verify(authority.publicKey)
    );
  }
}

async function callOnce(port: number): Promise<string | undefined> {
  const client = await LineClient.open(port);
  const line = await client.line();
  client.end();
  return line;
}

describe("--take-over of a sidecar", requires("linux"), () => {
  test("connections within mutual TLS go on, the service stays announced, and its identity is one", async () => {
    const brain = await managerPlace();
    await brain.start();
    const program = await startNamedServer("shop");
    const [front, entrance] = [await freePortBlock(2)].flatMap((port) => [port, port + 1]);
    if (front === undefined || entrance === undefined) throw new TypeError("no ports");
    const [gate, shop] = await Promise.all([
      Sidecar.start(brain, "gate"),
      Sidecar.start(brain, "shop"),
    ]);
    for (const line of [
      `add server-group app ${CHECKS}`,
      `add server app to server-group app address 127.0.0.1:${program.port}`,
      "add upstream app",
      "add server-group app to upstream app",
      `add tcp-lb entrance address 127.0.0.1:${entrance} upstream app cert-key identity peers ${spiffe("gate")}`,
      `add smart-node-delegate self service shop address 127.0.0.1 port ${entrance} check-address 127.0.0.1:${program.port} period 200 up ${SLOWLY_UP}`,
    ]) {
      await shop.up.command(line);
    }
    for (const line of [
      `add server-group to-shop ${CHECKS} tls identity peers ${spiffe("shop")}`,
      "add smart-group-delegate shop service shop server-group to-shop",
      "add upstream web",
      "add server-group to-shop to upstream web",
      `add tcp-lb web address 127.0.0.1:${front} upstream web`,
    ]) {
      await gate.up.command(line);
    }
    await expect.poll(() => callOnce(front).catch(() => "nobody"), LATER).toBe("shop");

    for (const sidecar of [shop, gate, shop]) {
      const held = await LineClient.open(front);
      expect(await held.line()).toBe("shop");
      const old = await sidecar.takeOver();
      expect(await held.ask("still here")).toBe("still here");
      expect(await callOnce(front)).toBe("shop");
      held.end();
      await held.closed;
      expect(await old.cli.ended()).toMatchObject({ code: 0 });
      // What the old one announced is not withdrawn by its end.
      expect(await callOnce(front)).toBe("shop");
      expect(sidecar.hasWholeIdentity).toBe(true);
    }
    await expect
      .poll(() => shop.up.command("list-detail smart-node-delegate"), LATER)
      .toMatchObject({ records: [{ status: "announced" }] });
  }, 120_000);
});
