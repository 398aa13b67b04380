import { canonicalIp, type Family, parseHostPort } from "../../core/model/address.ts";
import type { Node } from "../../core/model/node.ts";
import { ipAddress } from "../../platform/socket-address.ts";
import type { PeerSpec, TunnelMode } from "../tunnel/peer.ts";
import { isTunnelKeyText } from "../tunnel/tunnel-keys.ts";

/** What of this node says which peers it can have. */
export interface PeersView {
  /** The name of this one. */
  readonly own: string;
  /** What its socket speaks. */
  readonly families: readonly Family[];
  /** What is allowed, the best one first; `secure` alone where it is missing. */
  readonly modes?: readonly TunnelMode[];
}

/** The other nodes as the tunnel is told of them, and those that it can not be told of, with the reason. */
export interface FoundPeers {
  readonly peers: readonly PeerSpec[];
  /** `node-b: why`. Also peers that can not be called from here, and have to call first. */
  readonly leftOut: readonly string[];
}

type Place = NonNullable<PeerSpec["endpoint"]>;

/** Of two nodes that nothing could tell apart, the first by name; of this one and another, this one. */
export function peersOfNodes(
  nodes: Iterable<Node>,
  { own, families, modes = ["secure"] }: PeersView,
): FoundPeers {
  const all = [...nodes];
  const self = all.find(({ name }) => name === own);
  const seen = new Map((self === undefined ? [] : marksOf(self)).map((mark) => [mark, own]));
  const peers: PeerSpec[] = [];
  const leftOut: string[] = [];
  const others = all.filter(({ name, tunnel }) => name !== own && tunnel !== undefined);
  for (const node of others.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const why = obstacleOf(node, seen, { families, modes });
    if (why !== undefined) {
      leftOut.push(`${node.name}: ${why}`);
      continue;
    }
    for (const mark of marksOf(node)) seen.set(mark, node.name);
    const place = placeOf(node);
    const isForeign = place !== undefined && !families.includes(place.family);
    if (isForeign) leftOut.push(`${node.name}: ${foreignAddress(place)}`);
    // It is known by its key, wherever it calls from.
    peers.push(peerOf(node, modes, isForeign ? undefined : place));
  }
  return { peers, leftOut };
}

function obstacleOf(
  node: Node,
  seen: ReadonlyMap<string, string>,
  { families, modes }: Required<Pick<PeersView, "families" | "modes">>,
): string | undefined {
  if (node.subnets.length === 0) return "it has no subnets";
  for (const mark of marksOf(node)) {
    const other = seen.get(mark);
    if (other !== undefined) return `${mark} is the one of ${other} as well`;
  }
  const key = node.tunnel?.publicKey ?? "";
  if (key !== "") return isTunnelKeyText(key) ? undefined : `its public key "${key}" is none`;
  if (modeWithoutKey(modes) === undefined) return "its tunnel has no public key";
  const place = placeOf(node);
  if (place === undefined) return "its tunnel has neither a key nor an address";
  return families.includes(place.family) ? undefined : foreignAddress(place);
}

function marksOf({ subnets, tunnel }: Node): readonly string[] {
  const key = tunnel?.publicKey ?? "";
  return key === "" ? subnets : [key, ...subnets];
}

/** Why a node of a family that this machine does not speak is not called. */
export function foreignAddress({ ip, family }: Place): string {
  return `its address ${ip} can not be called from here, as this machine has no IP${family}`;
}

function peerOf(node: Node, modes: readonly TunnelMode[], endpoint: Place | undefined): PeerSpec {
  const place = { node: node.name, ...(endpoint && { endpoint }), subnets: node.subnets };
  const publicKey = node.tunnel?.publicKey ?? "";
  const plain = modeWithoutKey(modes);
  if (publicKey === "") return { ...place, modes: plain === undefined ? [] : [plain] };
  const sealed = modes.filter((mode) => mode !== "compat");
  return { ...place, publicKey, modes: sealed.length === 0 ? ["secure"] : sealed };
}

/** There is nothing to agree on without keys: it is the first that needs none. */
function modeWithoutKey(modes: readonly TunnelMode[]): TunnelMode | undefined {
  return modes.find((mode) => mode !== "secure");
}

function placeOf({ tunnel }: Node): Place | undefined {
  const place = parseHostPort(tunnel?.address ?? "");
  const ip = place && canonicalIp(place.host);
  return place === undefined || ip === undefined ? undefined : ipAddress(ip, place.port);
}
