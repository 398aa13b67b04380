import { execFile, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { TOPOLOGY } from "../../src/core/route/scenarios/topology.ts";
import { createTestAuthority, type IdentityFiles } from "../e2e/mesh-fixture.ts";
import { makeStateFolder, NO_PORTS, startUp, type Up } from "../e2e/up-fixture.ts";
import { requires } from "../support/requires.ts";
import { NamespaceNetwork } from "./namespace-network.ts";
import type { PartyName } from "./plan-network.ts";

const LATER = { timeout: 30_000, interval: 100 };
const SHOP_HOST = TOPOLOGY.nodes["node-b"].addresses.v4;
const VIP = "10.96.7.7";
const WEB = "spiffe://portolan/service/default/web";
const SHOP = "spiffe://portolan/service/default/shop";
const APP = `require("node:http").createServer((_, answer) => answer.end("shop")).listen(8080, "127.0.0.1")`;

const certificate = ({ cert, key, ca }: IdentityFiles) => ({
  certFiles: cert,
  keyFile: key,
  caFile: ca,
});

/** Machines with sidecars: each is a process in a network namespace of its own. */
class Machines {
  readonly #network = NamespaceNetwork.open();

  constructor() {
    onTestFinished(() => this.#network.close());
  }

  async startSidecar(party: PartyName, state: object, args: readonly string[]): Promise<Up> {
    const folder = makeStateFolder();
    const file = `${folder}.json`;
    writeFileSync(file, JSON.stringify({ version: 1, ...state }));
    const all = [...NO_PORTS, "--loops", "1", "--node", party, "--from", `file:${file}`, ...args];
    // The process is in the namespace that it was started in.
    return this.#network.inside(party, () => startUp(folder, all));
  }

  startApp(party: PartyName): () => void {
    const child = this.#network.inside(party, () =>
      spawn(process.execPath, ["-e", APP], { stdio: "ignore" }),
    );
    const stop = (): void => {
      child.kill("SIGKILL");
    };
    onTestFinished(stop);
    return stop;
  }

  /** What is answered, or the exit code of curl. */
  call(party: PartyName, url: string): Promise<string> {
    return this.#network.inside(
      party,
      () =>
        new Promise((resolve) => {
          execFile("curl", ["-s", "--max-time", "5", url], (error, stdout) =>
            resolve(error === null ? stdout : `failed: ${error.code}`),
          );
        }),
    );
  }
}

describe("a mesh by redirect", requires("linux", "root", "ip", "nft", "curl"), () => {
  test("a workload calls a cluster IP, and its sidecar the right one within TLS", async () => {
    const machines = new Machines();
    const authority = await createTestAuthority();
    const api = join(makeStateFolder(), "..", "api.sock");
    const stopApp = machines.startApp("node-b");

    // In: a TcpLB for web alone, and the program behind it announced.
    const entrance = `${SHOP_HOST}:18080`;
    const shop = await machines.startSidecar(
      "node-b",
      {
        services: {
          "shop-in": {
            listen: {
              address: entrance,
              node: "node-b",
              tls: { certificates: "shop", peers: WEB },
            },
            servers: "127.0.0.1:8080",
          },
        },
        certificates: { shop: certificate(await authority.issue("default/shop")) },
      },
      ["--to", "userspace", "--to", "api", "--api-listen", `unix:${api}`],
    );
    const place = `service shop address ${SHOP_HOST} port 18080 check-address 127.0.0.1:8080`;
    await shop.command(`add smart-node-delegate self ${place} period 100`);

    // Out: the cluster IP of a service leads to a group that follows it.
    const web = await machines.startSidecar(
      "node-a",
      {
        services: { "shop-vip": { clusterIPs: VIP, ports: 80, groups: "to-shop" } },
        groups: { "to-shop": { tls: { certificate: "web", peers: SHOP } } },
        certificates: { web: certificate(await authority.issue("default/web")) },
      },
      ["--to", "userspace", "--redirect", "--from", `api:unix:${api}`],
    );
    await web.command("add smart-group-delegate shop service shop server-group to-shop");

    for (const party of ["client-a", "node-a"] as const) {
      await expect.poll(() => machines.call(party, `http://${VIP}/`), LATER).toBe("shop");
    }
    // Without an identity nobody comes in.
    expect(await machines.call("node-a", `http://${entrance}/`)).toMatch(/^failed: /);

    // The program goes, and comes again.
    stopApp();
    await expect.poll(() => machines.call("client-a", `http://${VIP}/`), LATER).toMatch(/^failed/);
    machines.startApp("node-b");
    await expect.poll(() => machines.call("client-a", `http://${VIP}/`), LATER).toBe("shop");

    // An identity that is good no more.
    await authority.issue("default/web", -1000);
    await expect.poll(() => machines.call("client-a", `http://${VIP}/`), LATER).toMatch(/^failed/);
  }, 120_000);
});
