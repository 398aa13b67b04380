import { joinManager } from "../../../brain/manager/client/node-membership.ts";
import { CoreError } from "../../../core/errors.ts";
import type { Log } from "../../../core/log.ts";
import { type Cidr, cidrContains, parseCidr } from "../../../core/model/address.ts";
import {
  formatListenAddress,
  type ListenAddress,
  parseListenAddress,
} from "../../../core/options/listen-address.ts";
import type { NodeSubnets } from "../../../edge/addresses/subnet.ts";
import { publicTunnelKey } from "../../../edge/tunnel/tunnel-keys.ts";
import { readTextFile } from "../../private-files.ts";
import { WORLD } from "../../world.ts";
import {
  keepMembership,
  type Membership,
  membershipFolder,
  readMembership,
} from "./kept-membership.ts";
import { isUnreachable } from "./manager-link.ts";
import { ManagerRing } from "./manager-ring.ts";
import { tunnelOf } from "./member.ts";

/** With which managers, of one edge, and with what. */
export interface JoinOrder {
  readonly managers: readonly ListenAddress[];
  /** Needed where this node does not belong to that edge yet. */
  readonly tokenFile: string | undefined;
}

export interface EnterOptions {
  readonly stateFolder: string;
  readonly node: string;
  readonly place: { readonly ip: string | undefined; readonly port: number };
  /** Base64, of the tunnel. */
  readonly privateKey: string;
  readonly serviceRanges: readonly Cidr[];
  /** What workloads here have addresses of, from an earlier time. */
  readonly before: NodeSubnets | undefined;
  readonly log: Log;
}

/** What a node of an edge starts with. */
export interface EnteredEdge {
  readonly ring: ManagerRing;
  readonly membership: Membership;
  readonly folder: string;
  readonly subnets: NodeSubnets;
  readonly renewEveryMs: number;
}

const MAX_TOKEN_BYTES = 4096;

/**
 * The edge that a node belongs to: the one of its folder, or one that it joins now. Undefined where it belongs
 * to none and is not told to join.
 * @throws CoreError ERR_USAGE, ERR_CONFIG_INVALID, and what joining throws
 */
export async function enterEdge(
  options: EnterOptions,
  order: JoinOrder | undefined,
): Promise<EnteredEdge | undefined> {
  const { node, stateFolder } = options;
  const folder = membershipFolder(stateFolder);
  const kept = await readMembership(folder);
  const membership =
    kept === undefined || isOther(kept, order)
      ? await join(options, folder, order)
      : await goOn(folder, kept, order);
  if (membership === undefined) return undefined;
  if (membership.terms.node !== node) {
    const message = `--node: this node has joined as ${membership.terms.node}, not as ${node}; give that name, or remove ${folder} and join again`;
    throw new CoreError("ERR_USAGE", message);
  }
  const [first, ...others] = membership.managers.flatMap((text) => parseListenAddress(text) ?? []);
  if (first === undefined) throw new CoreError("ERR_STATE_INVALID", `${folder} names no manager`);
  return {
    ring: new ManagerRing([first, ...others], membership.told, WORLD.random),
    membership,
    folder,
    subnets: subnetsOf(membership),
    renewEveryMs: membership.terms.renewEveryMs,
  };
}

/** Who has a token for managers that are not those of its edge, joins theirs. */
function isOther({ managers, told }: Membership, order: JoinOrder | undefined): boolean {
  const known = new Set([...managers, ...told]);
  return order?.tokenFile !== undefined && !order.managers.some((one) => known.has(nameOf(one)));
}

/** Whoever was named last is asked first. */
async function goOn(
  folder: string,
  kept: Membership,
  order: JoinOrder | undefined,
): Promise<Membership> {
  const managers = order?.managers.map(nameOf) ?? kept.managers;
  if (managers.join() === kept.managers.join()) return kept;
  const membership = { ...kept, managers };
  await keepMembership(folder, membership);
  return membership;
}

async function join(
  { node, place, privateKey, serviceRanges, before, log }: EnterOptions,
  folder: string,
  order: JoinOrder | undefined,
): Promise<Membership | undefined> {
  if (order === undefined) return undefined;
  const { managers, tokenFile } = order;
  if (tokenFile === undefined) {
    const message =
      "--token-file: missing; expected a file with a token of portolan manager token create, as this node has not joined yet";
    throw new CoreError("ERR_USAGE", message);
  }
  const token = (await readTextFile(tokenFile, MAX_TOKEN_BYTES)).trim();
  const { ip, port } = place;
  if (ip === undefined) {
    const message = "--node-address: missing, and this machine has no address that others reach";
    throw new CoreError("ERR_USAGE", message);
  }
  const request = {
    token,
    node,
    addresses: [ip],
    zone: "",
    labels: {},
    tunnel: tunnelOf(ip, port, publicTunnelKey(privateKey)),
    ...(before && { subnets: [before.v4.text, before.v6.text] }),
  };
  const { credentials: _, ...terms } = await firstAnswer(managers, (manager) =>
    joinManager(manager, folder, request),
  );
  refuseOtherRanges(terms.serviceRanges, serviceRanges);
  const membership = {
    version: 2,
    managers: managers.map(nameOf),
    told: terms.managers,
    terms,
  } as const;
  await keepMembership(folder, membership);
  log.info(
    { managers: membership.managers, subnets: terms.subnets },
    "this node has joined an edge",
  );
  return membership;
}

/** What the first manager says that can be reached. */
async function firstAnswer<T>(
  managers: readonly ListenAddress[],
  ask: (manager: ListenAddress) => Promise<T>,
): Promise<T> {
  const failures: CoreError[] = [];
  for (const manager of managers) {
    try {
      return await ask(manager);
    } catch (error) {
      if (!isUnreachable(error)) throw error;
      failures.push(error);
    }
  }
  const [first] = failures;
  if (failures.length === 1 && first !== undefined) throw first;
  throw new CoreError("ERR_API_UNREACHABLE", failures.map(({ message }) => message).join("; "));
}

function nameOf(manager: ListenAddress): string {
  return formatListenAddress(manager);
}

function subnetsOf({ terms, managers }: Membership): NodeSubnets {
  const networks = terms.subnets.flatMap((text) => parseCidr(text) ?? []);
  const [v4, v6] = (["v4", "v6"] as const).map((family) =>
    networks.find((network) => network.family === family),
  );
  if (v4 !== undefined && v6 !== undefined) return { v4, v6 };
  const message = `the manager at ${managers.join()} gives ${terms.subnets.join(" ")}; expected a network of each family (--node-ranges of the manager)`;
  throw new CoreError("ERR_CONFIG_INVALID", message);
}

function refuseOtherRanges(given: readonly string[], own: readonly Cidr[]): void {
  for (const text of given) {
    const [first = ""] = text.split("/");
    const range = parseCidr(text);
    const isInside = own.some(
      (one) => range !== undefined && one.prefix <= range.prefix && cidrContains(one, first),
    );
    if (isInside) continue;
    const have = own.map((one) => one.text).join(" ");
    const message = `--service-range: ${have} does not hold ${text}, from which the manager gives service addresses; add it`;
    throw new CoreError("ERR_CONFIG_INVALID", message);
  }
}
