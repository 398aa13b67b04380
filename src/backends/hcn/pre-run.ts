import { CoreError } from "../../core/errors.ts";
import { type Endpoint, remoteEndpoint } from "../../platform/windows/endpoint.ts";
import { isOwnGuid } from "../../platform/windows/guid.ts";
import type { Hcn } from "../../platform/windows/hcn.ts";
import {
  featuresOf,
  type HnsFeatures,
  type HnsVersion,
} from "../../platform/windows/hns-features.ts";
import type { LoadBalancer } from "../../platform/windows/load-balancer.ts";
import type { Network } from "../../platform/windows/network.ts";
import { isOverlay } from "./plan/hcn-context.ts";
import { sourceVipId } from "./plan/object-ids.ts";
import type { HcnSettings } from "./settings.ts";

/** What HNS was seen to hold. */
export interface HcnReading {
  readonly version: HnsVersion;
  readonly features: HnsFeatures;
  readonly network: Network;
  /** Remote endpoints of ours, also those that an earlier run left elsewhere. */
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  readonly loadBalancers: ReadonlyMap<string, LoadBalancer>;
  /** What others made on the network. */
  readonly locals: LocalEndpoints;
}

/**
 * Reads what there is before anything is programmed: the version, the network, and what an earlier run left.
 * @returns undefined where the network is not there
 * @throws CoreError ERR_NOT_POSSIBLE_HERE where HNS is too old
 */
export async function preRun(
  hcn: Hcn,
  { networkName, sourceVip }: HcnSettings,
): Promise<HcnReading | undefined> {
  const version = await hcn.version();
  const features = featuresOf(version);
  if (!features.v2) {
    throw new CoreError(
      "ERR_NOT_POSSIBLE_HERE",
      `HNS ${version.major}.${version.minor} is too old; expected 9.2 or newer (Windows Server 2019)`,
    );
  }
  const network = await hcn.findNetwork(networkName);
  if (network === undefined) return undefined;
  const kept = sourceVipId(network.id, sourceVip);
  const ids = await hcn.endpointIds();
  const endpoints = await readOwn(ids, (id) => hcn.endpoint(id));
  endpoints.delete(kept);
  const loadBalancers = await readOwn(await hcn.loadBalancerIds(), (id) => hcn.loadBalancer(id));
  const locals = new LocalEndpoints(network.id);
  await locals.read(hcn, ids);
  return { version, features, network, endpoints, loadBalancers, locals };
}

/**
 * On an overlay network what is balanced comes from an address that has to be somebody's.
 * @throws CoreError ERR_CONFIG_INVALID
 */
export async function ensureSourceVip(
  hcn: Hcn,
  { network, locals }: HcnReading,
  { sourceVip, hostMac }: { readonly sourceVip: string; readonly hostMac: string },
): Promise<void> {
  if (!isOverlay(network)) return;
  if (sourceVip === "") {
    throw new CoreError(
      "ERR_CONFIG_INVALID",
      `--source-vip: missing; the network "${network.name}" is an overlay: expected an address of the node's subnet that nobody has`,
    );
  }
  const id = sourceVipId(network.id, sourceVip);
  if (locals.byAddress.has(sourceVip) || (await hcn.endpoint(id)) !== undefined) return;
  const fields = { id, name: "portolan-source-vip", networkId: network.id, macAddress: hostMac };
  const addresses = [{ address: sourceVip, prefixLength: 0 }];
  await hcn.createEndpoint({ ...remoteEndpoint({ ...fields, addresses }), isRemote: false });
}

/** Endpoints that others made on this node's network, by address. Each is asked for once. */
export class LocalEndpoints {
  readonly #networkId: string;
  readonly #addresses = new Map<string, readonly string[]>();
  readonly #byAddress = new Map<string, string>();

  constructor(networkId: string) {
    this.#networkId = networkId;
  }

  get byAddress(): ReadonlyMap<string, string> {
    return this.#byAddress;
  }

  /**
   * @param all ids of the endpoints that there are, on any network
   * @returns whether any came or went
   */
  async read(hcn: Hcn, all: Iterable<string>): Promise<boolean> {
    const ids = new Set([...all].filter((id) => !isOwnGuid(id)));
    let hasChanged = false;
    for (const id of [...this.#addresses.keys()]) {
      if (ids.has(id)) continue;
      this.#forget(id);
      hasChanged = true;
    }
    for (const id of ids) {
      if (this.#addresses.has(id)) continue;
      const endpoint = await hcn.endpoint(id);
      if (endpoint === undefined) continue;
      // A remote one of others stands for an address elsewhere, as ours would.
      const isLocal = !endpoint.isRemote && endpoint.networkId === this.#networkId;
      const own = isLocal ? endpoint.addresses.map(({ address }) => address) : [];
      this.#addresses.set(id, own);
      for (const address of own) this.#byAddress.set(address, id);
      hasChanged = true;
    }
    return hasChanged;
  }

  /** An address may come back as another endpoint: it is looked for anew. */
  drop(address: string): void {
    const id = this.#byAddress.get(address);
    if (id !== undefined) this.#forget(id);
  }

  #forget(id: string): void {
    for (const address of this.#addresses.get(id) ?? []) {
      if (this.#byAddress.get(address) === id) this.#byAddress.delete(address);
    }
    this.#addresses.delete(id);
  }
}

async function readOwn<V>(
  ids: readonly string[],
  find: (id: string) => Promise<V | undefined>,
): Promise<Map<string, V>> {
  const found = new Map<string, V>();
  for (const id of ids) {
    if (!isOwnGuid(id)) continue;
    const value = await find(id);
    if (value !== undefined) found.set(id, value);
  }
  return found;
}
