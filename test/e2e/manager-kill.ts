import { expect } from "vitest";
import * as z from "zod";
import { ManagerClient } from "../../src/brain/manager/client/manager-client.ts";
import { membershipFiles } from "../../src/brain/manager/client/node-membership.ts";
import { CoreError } from "../../src/core/errors.ts";
import { type ManagerPlace, managerPlace, TestNode } from "./manager-fixture.ts";

const NODES = 3;
const SERVICES = 6;
const MAX_ACKNOWLEDGED = 60;

const answerSchema = z.object({ edgeIPs: z.array(z.object({ address: z.string() })) });
const tableSchema = z.object({
  services: z.array(
    z.object({
      edgeIPs: z.array(z.object({ address: z.string() })),
      instances: z.array(z.object({ addresses: z.array(z.string()) })),
    }),
  ),
});

/** How a service may be: where its instance is, and what it was given; undefined: it is not there. */
interface Deployed {
  readonly address: string;
  /** Undefined where nobody was told. */
  readonly edgeIPs: readonly string[] | undefined;
}

/** A node that deploys and undeploys services of its own for as long as its manager answers. */
class Worker {
  readonly node: TestNode;
  readonly #random: () => number;
  /** All that each service may be: more than one where an answer never came. */
  readonly #model = new Map<string, readonly (Deployed | undefined)[]>();

  constructor(name: string, random: () => number) {
    this.node = new TestNode(name);
    this.#random = random;
  }

  get services(): readonly string[] {
    return Array.from({ length: SERVICES }, (_, number) => `default/${this.node.name}-${number}`);
  }

  async work(place: ManagerPlace, onAcknowledged: () => void): Promise<void> {
    const client = await this.#connect(place);
    try {
      for (;;) {
        await this.#change(client);
        onAcknowledged();
      }
    } catch (error) {
      const isLost = error instanceof CoreError && error.code === "ERR_API_UNREACHABLE";
      if (!isLost) throw error;
    } finally {
      client.close();
    }
  }

  /** What there is must be among what may be; from then on it is what there is. @returns all service addresses */
  async check(place: ManagerPlace): Promise<readonly string[]> {
    const client = await this.#connect(place);
    const all: string[] = [];
    for (const service of this.services) {
      const found = tableSchema.parse(await client.call("Table", { query: service }));
      const [one] = found.services;
      const edgeIPs = one?.edgeIPs.map(({ address }) => address) ?? [];
      const address = one?.instances[0]?.addresses[0];
      const state = address === undefined ? undefined : { address, edgeIPs };
      const may = this.#model.get(service) ?? [undefined];
      expect(
        may.some((each) => isSame(each, state)),
        `${service}: ${JSON.stringify({ may, state })}`,
      ).toBe(true);
      this.#model.set(service, [state]);
      all.push(...edgeIPs);
    }
    client.close();
    return all;
  }

  async #change(client: ManagerClient): Promise<void> {
    const service = this.services[Math.floor(this.#random() * SERVICES)] ?? "";
    const [before] = this.#model.get(service) ?? [undefined];
    if (before !== undefined && this.#random() < 0.5) {
      this.#model.set(service, [before, undefined]);
      await client.call("Undeploy", { service, instance: 0 });
      this.#model.set(service, [undefined]);
      return;
    }
    const address = `10.18.0.${1 + Math.floor(this.#random() * 250)}`;
    this.#model.set(service, [before, { address, edgeIPs: before?.edgeIPs }]);
    const request = { service, instance: 0, addresses: [address] };
    const { edgeIPs } = answerSchema.parse(await client.call("Deploy", request));
    const given = edgeIPs.map((edge) => edge.address);
    if (before?.edgeIPs !== undefined) expect(given).toEqual(before.edgeIPs);
    this.#model.set(service, [{ address, edgeIPs: given }]);
  }

  #connect({ address }: ManagerPlace): Promise<ManagerClient> {
    return ManagerClient.connect({ address, tls: membershipFiles(this.node.folder) });
  }
}

/** Kills a manager again and again in the middle of deployments. @returns how many were acknowledged */
export async function killManager(kills: number, random: () => number): Promise<number> {
  const place = await managerPlace();
  const args = ["--node-timeout", "1h"];
  let manager = await place.start(args);
  const token = await place.ask("token", "create");
  const workers = Array.from({ length: NODES }, (_, number) => new Worker(`n${number}`, random));
  for (const { node } of workers) await node.join(place, token);
  let acknowledged = 0;
  for (let kill = 0; kill < kills; kill += 1) {
    const until = acknowledged + 1 + Math.floor(random() * MAX_ACKNOWLEDGED);
    const onAcknowledged = (): void => {
      acknowledged += 1;
      if (acknowledged === until) manager.kill("SIGKILL");
    };
    await Promise.all(workers.map((worker) => worker.work(place, onAcknowledged)));
    await manager.ended();
    manager = await place.start(args);
    const addresses = (await Promise.all(workers.map((worker) => worker.check(place)))).flat();
    expect(new Set(addresses).size).toBe(addresses.length);
  }
  return acknowledged;
}

function isSame(may: Deployed | undefined, is: Deployed | undefined): boolean {
  if (may === undefined || is === undefined) return may === is;
  const isGiven = may.edgeIPs === undefined || may.edgeIPs.join() === is.edgeIPs?.join();
  return may.address === is.address && isGiven;
}
