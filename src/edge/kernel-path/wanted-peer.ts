import type { Session } from "../tunnel/session.ts";
import { type Endpoint, peerValue, senderKey, senderValue } from "./entries.ts";
import type { KernelSession } from "./kernel-session.ts";
import type { WantedPeer, WantedSender } from "./published-peer.ts";

/** A peer by its number, and how it is reached from here. */
export interface PeerWay {
  readonly peer: number;
  readonly remote: Endpoint;
  readonly link: number;
  readonly localIp: number;
  readonly localPort: number;
}

/** Of one with a key: it is heard by all `sessions` that both ends have, and sent to by the `current` one. */
export function wantedByKey(
  way: PeerWay,
  sessions: readonly KernelSession[],
  current: Session | undefined,
): WantedPeer {
  const { peer, remote, link, localIp, localPort } = way;
  const senders = sessions.flatMap((kernel): WantedSender[] => {
    const { session, record, openingKey } = kernel;
    if (session === undefined) return [];
    const { mode } = session;
    const sender = {
      key: senderKey(session.localIndex, remote),
      value: senderValue({ mode, peer, localIp, record: record.number }),
      secret: mode === "secure" ? openingKey : undefined,
      // What is sealed is the peer's wherever it comes from.
      isElsewhereWrong: mode === "fast",
    };
    return [sender];
  });
  const sending = sessions.find(({ session }) => session !== undefined && session === current);
  if (sending === undefined || current === undefined) return { sending: undefined, senders };
  const value = peerValue({
    mode: current.mode,
    link,
    local: { ip: localIp, port: localPort },
    remote,
    receiver: current.remoteIndex,
    record: sending.record.number,
  });
  const secret = current.mode === "secure" ? sending.sealingKey : undefined;
  return { sending: { value, secret }, senders };
}

/** Of one without a key, in mode `fast`. */
export function wantedByAddress(way: PeerWay, record: number): WantedPeer {
  const { peer, remote, link, localIp, localPort } = way;
  const mode = "fast";
  const local = { ip: localIp, port: localPort };
  const value = peerValue({ mode, link, local, remote, receiver: 0, record });
  const sender = {
    key: senderKey(0, remote),
    value: senderValue({ mode, peer, localIp, record }),
    secret: undefined,
    isElsewhereWrong: true,
  };
  return { sending: { value, secret: undefined }, senders: [sender] };
}
