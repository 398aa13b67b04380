import { canonicalIp, parseHostPort } from "../../core/model/address.ts";
import type { Node } from "../../core/model/node.ts";
import { ipAddress } from "../../platform/socket-address.ts";
import type { PeerSpec, TunnelMode } from "../tunnel/peer.ts";
import { isTunnelKeyText } from "../tunnel/tunnel-keys.ts";

/** The other nodes as the tunnel is told of them, and those that it can not be told of, with the reason. */
export interface FoundPeers {
  readonly peers: readonly PeerSpec[];
  /** `node-b: why`. */
  readonly leftOut: readonly string[];
}

/**
 * Of two nodes that nothing could tell apart, the first by name; of this one and another, this one.
 * @param own the name of this one
 * @param modes what is allowed, the best one first
 */
export function peersOfNodes(
  nodes: Iterable<Node>,
  own: string,
  modes: readonly TunnelMode[] = ["secure"],
): FoundPeers {
  const all = [...nodes];
  const self = all.find(({ name }) => name === own);
  const seen = new Map((self === undefined ? [] : marksOf(self)).map((mark) => [mark, own]));
  const peers: PeerSpec[] = [];
  const leftOut: string[] = [];
  const others = all.filter(({ name, tunnel }) => name !== own && tunnel !== undefined);
  for (const node of others.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const why = obstacleOf(node, seen, modes);
    if (why !== undefined) {
      leftOut.push(`${node.name}: ${why}`);
      continue;
    }
    for (const mark of marksOf(node)) seen.set(mark, node.name);
    peers.push(peerOf(node, modes));
  }
  return { peers, leftOut };
}

function obstacleOf(
  node: Node,
  seen: ReadonlyMap<string, string>,
  modes: readonly TunnelMode[],
): string | undefined {
  if (node.subnets.length === 0) return "it has no subnets";
  for (const mark of marksOf(node)) {
    const other = seen.get(mark);
    if (other !== undefined) return `${mark} is the one of ${other} as well`;
  }
  const key = node.tunnel?.publicKey ?? "";
  if (key !== "") return isTunnelKeyText(key) ? undefined : `its public key "${key}" is none`;
  if (modeWithoutKey(modes) === undefined) return "its tunnel has no public key";
  return placeOf(node) === undefined ? "its tunnel has neither a key nor an address" : undefined;
}

function marksOf({ subnets, tunnel }: Node): readonly string[] {
  const key = tunnel?.publicKey ?? "";
  return key === "" ? subnets : [key, ...subnets];
}

function peerOf(node: Node, modes: readonly TunnelMode[]): PeerSpec {
  const endpoint = placeOf(node);
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

function placeOf({ tunnel }: Node): PeerSpec["endpoint"] {
  const place = parseHostPort(tunnel?.address ?? "");
  const ip = place && canonicalIp(place.host);
  return place === undefined || ip === undefined ? undefined : ipAddress(ip, place.port);
}
