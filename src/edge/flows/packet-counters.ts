/** What became of packets; each name is a counter. */
export const PACKET_COUNTERS = [
  "toPeers",
  "toLocal",
  "fromPeers",
  /** No packet of IP, or not all of it. */
  "malformed",
  /** It came from a peer that its source does not belong to. */
  "forgedSource",
  /** It came from a peer, and is for nobody here. */
  "notForUs",
  /** Nobody has its destination. */
  "noRoute",
  /** A service without an instance that could serve. */
  "noInstance",
  /** A later piece of a datagram whose first piece was not seen. */
  "lostFragment",
  /** Longer than the way to the peer allows; its sender was told. */
  "tooBig",
] as const;

export type PacketCounter = (typeof PACKET_COUNTERS)[number];

export type PacketCounts = Record<PacketCounter, number>;

export function noPackets(): PacketCounts {
  return {
    toPeers: 0,
    toLocal: 0,
    fromPeers: 0,
    malformed: 0,
    forgedSource: 0,
    notForUs: 0,
    noRoute: 0,
    noInstance: 0,
    lostFragment: 0,
    tooBig: 0,
  };
}
