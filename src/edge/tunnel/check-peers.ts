import { CoreError } from "../../core/errors.ts";
import { parseCidr } from "../../core/model/address.ts";
import { formatSocketAddress, ipAddress } from "../../platform/socket-address.ts";
import { PrefixMap } from "../flows/prefix-map.ts";
import type { PeerSpec } from "./peer.ts";
import { parsePublicKey } from "./tunnel-keys.ts";

/** What of this node says which peers it can have. */
export interface OwnEnd {
  readonly hasKey: boolean;
  readonly isV6Socket: boolean;
  readonly subnets: readonly string[];
}

/** Refuses peers that can not be, or that nothing could tell apart. @throws CoreError ERR_CONFIG_INVALID, ERR_ADDRESS_TAKEN */
export function checkPeers(peers: readonly PeerSpec[], own: OwnEnd): void {
  const networks = new PrefixMap<PeerSpec | OwnEnd>();
  for (const subnet of own.subnets) networks.add(subnet, own);
  const seen = new Set<string>();
  const claim = (peer: PeerSpec, what: string): void => {
    if (seen.has(what)) fail(peer, `${what} is the one of another peer`);
    seen.add(what);
  };
  for (const peer of peers) {
    claim(peer, `name ${peer.node}`);
    checkModes(peer, own.hasKey);
    if (peer.publicKey !== undefined) {
      parsePublicKey(peer.publicKey);
      claim(peer, `key ${peer.publicKey}`);
    } else if (peer.endpoint !== undefined) {
      claim(peer, `address ${formatSocketAddress(peer.endpoint)}`);
    }
    if (peer.endpoint?.family === "v6" && !own.isV6Socket) {
      fail(peer, `its address ${peer.endpoint.ip} is IPv6; let the tunnel listen on [::]`);
    }
    for (const subnet of peer.subnets) {
      if (parseCidr(subnet) === undefined) fail(peer, `subnet "${subnet}" is none`);
      networks.add(subnet, peer);
    }
  }
}

/** The peer as a socket of IPv6 knows it: addresses of IPv4 are written in IPv6. */
export function mappedPeer(peer: PeerSpec, isV6Socket: boolean): PeerSpec {
  const { endpoint } = peer;
  if (endpoint === undefined || endpoint.family === "v6" || !isV6Socket) return peer;
  return { ...peer, endpoint: ipAddress(`::ffff:${endpoint.ip}`, endpoint.port) };
}

/** What is agreed on is agreed on with keys; without one there is nothing to agree on. */
function checkModes(peer: PeerSpec, hasKey: boolean): void {
  const { modes, publicKey, endpoint } = peer;
  if (modes.length === 0) fail(peer, "no mode; secure is the usual one");
  if (publicKey !== undefined) {
    if (modes.includes("compat")) fail(peer, "compat has no keys; leave out its key or that mode");
    if (!hasKey) fail(peer, "it has a key, and this node has none; give it a private key");
    return;
  }
  if (modes.includes("secure")) fail(peer, "secure needs its public key");
  if (modes.length > 1) fail(peer, "without a key there can be one mode only");
  if (endpoint === undefined) fail(peer, "without a key it is known by its address; give that");
}

function fail(peer: PeerSpec, why: string): never {
  throw new CoreError("ERR_CONFIG_INVALID", `peer ${peer.node}: ${why}`);
}
