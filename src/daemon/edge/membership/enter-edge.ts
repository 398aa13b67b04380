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
import {
  keepMembership,
  type Membership,
  membershipFolder,
  readMembership,
} from "./kept-membership.ts";
import { tunnelOf } from "./member.ts";

/** With which manager, and with what. */
export interface JoinOrder {
  readonly manager: ListenAddress;
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
  readonly log: Log;
}

/** What a node of an edge starts with. */
export interface EnteredEdge {
  readonly manager: ListenAddress;
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
  const isNew = order?.tokenFile !== undefined && kept?.manager !== nameOf(order.manager);
  const membership = isNew || kept === undefined ? await join(options, folder, order) : kept;
  if (membership === undefined) return undefined;
  if (membership.terms.node !== node) {
    const message = `--node: this node has joined as ${membership.terms.node}, not as ${node}; give that name, or remove ${folder} and join again`;
    throw new CoreError("ERR_USAGE", message);
  }
  const manager = parseListenAddress(membership.manager);
  if (manager === undefined) throw new CoreError("ERR_STATE_INVALID", `${folder} names no manager`);
  return {
    manager,
    folder,
    subnets: subnetsOf(membership),
    renewEveryMs: membership.terms.renewEveryMs,
  };
}

async function join(
  { node, place, privateKey, serviceRanges, log }: EnterOptions,
  folder: string,
  order: JoinOrder | undefined,
): Promise<Membership | undefined> {
  if (order === undefined) return undefined;
  const { manager, tokenFile } = order;
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
  const { credentials: _, ...terms } = await joinManager(manager, folder, {
    token,
    node,
    addresses: [ip],
    zone: "",
    labels: {},
    tunnel: tunnelOf(ip, port, publicTunnelKey(privateKey)),
  });
  refuseOtherRanges(terms.serviceRanges, serviceRanges);
  const membership = { version: 1, manager: nameOf(manager), terms } as const;
  await keepMembership(folder, membership);
  log.info({ manager: membership.manager, subnets: terms.subnets }, "this node has joined an edge");
  return membership;
}

function nameOf(manager: ListenAddress): string {
  return formatListenAddress(manager);
}

function subnetsOf({ terms, manager }: Membership): NodeSubnets {
  const networks = terms.subnets.flatMap((text) => parseCidr(text) ?? []);
  const [v4, v6] = (["v4", "v6"] as const).map((family) =>
    networks.find((network) => network.family === family),
  );
  if (v4 !== undefined && v6 !== undefined) return { v4, v6 };
  const message = `the manager at ${manager} gives ${terms.subnets.join(" ")}; expected a network of each family (--node-ranges of the manager)`;
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
