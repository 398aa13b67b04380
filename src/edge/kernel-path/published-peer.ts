import { checkOf, numberBytes } from "./entries.ts";
import type { KernelMap } from "./kernel-maps.ts";
import { PEER_VALUE, SENDER_VALUE } from "./layout.ts";

/** A value of a map, and the key that it has where it is secret. */
export interface KeyedValue {
  /** Without the key. */
  readonly value: Uint8Array;
  readonly secret: Uint8Array | undefined;
}

export interface WantedSender extends KeyedValue {
  readonly key: Uint8Array;
  /** What comes from anywhere else is not the peer's, not even for a moment. */
  readonly isElsewhereWrong: boolean;
}

/** What maps shall say of a peer: how it is sent to, and how it is known. */
export interface WantedPeer {
  readonly sending: KeyedValue | undefined;
  readonly senders: readonly WantedSender[];
}

/** The maps of peers and of senders. */
export interface PeerMaps {
  readonly peers: KernelMap;
  readonly senders: KernelMap;
  /** Who wrote a sender last: of what one peer gives up, another may have become the owner meanwhile. */
  readonly owners: Map<string, PublishedPeer>;
}

interface Places {
  readonly secret: number;
  readonly check: number;
}

const PLACES = {
  peer: { secret: PEER_VALUE.sealingKey, check: PEER_VALUE.check },
  sender: { secret: SENDER_VALUE.openingKey, check: SENDER_VALUE.check },
} as const;

export const NOT_WANTED: WantedPeer = { sending: undefined, senders: [] };

/** What maps say of a peer, which changes in such an order that nothing wrong is sent or taken meanwhile. */
export class PublishedPeer {
  readonly #number: Uint8Array;
  readonly #maps: PeerMaps;
  #sending: Uint8Array | undefined;
  #published: ReadonlyMap<string, WantedSender> = new Map();

  constructor(number: number, maps: PeerMaps) {
    this.#number = numberBytes(number);
    this.#maps = maps;
  }

  become({ sending, senders }: WantedPeer): void {
    const wanted = new Map(senders.map((sender) => [textOf(sender.key), sender]));
    const gone = [...this.#published].flatMap(([text, old]) => (wanted.has(text) ? [] : [old]));
    if (sending === undefined) this.#send(undefined);
    this.#forget(gone.filter(({ isElsewhereWrong }) => isElsewhereWrong));
    for (const [text, sender] of wanted) this.#hear(text, sender);
    if (sending !== undefined) this.#send(sending);
    this.#forget(gone.filter(({ isElsewhereWrong }) => !isElsewhereWrong));
    this.#published = wanted;
  }

  #hear(text: string, sender: WantedSender): void {
    const { senders, owners } = this.#maps;
    const isThere =
      owners.get(text) === this && isSame(this.#published.get(text)?.value, sender.value);
    if (isThere) return;
    put(senders, sender.key, sender, PLACES.sender);
    owners.set(text, this);
  }

  #send(sending: KeyedValue | undefined): void {
    if (isSame(this.#sending, sending?.value)) return;
    if (sending === undefined) this.#maps.peers.delete(this.#number);
    else put(this.#maps.peers, this.#number, sending, PLACES.peer);
    this.#sending = sending?.value;
  }

  #forget(senders: readonly WantedSender[]): void {
    const { owners } = this.#maps;
    for (const { key } of senders) {
      if (owners.get(textOf(key)) !== this) continue;
      this.#maps.senders.delete(key);
      owners.delete(textOf(key));
    }
  }
}

/** The value with its key is in this process for that moment only. */
function put(map: KernelMap, key: Uint8Array, { value, secret }: KeyedValue, at: Places): void {
  const whole = Uint8Array.from(value);
  if (secret !== undefined) whole.set(secret, at.secret);
  const check = checkOf(key, whole.subarray(0, at.check));
  new DataView(whole.buffer).setBigUint64(at.check, check, true);
  map.set(key, whole);
  whole.fill(0);
}

/** Values name a record, which one session has for its whole life: its keys are the same, too. */
function isSame(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a === undefined || b === undefined ? a === b : Buffer.compare(a, b) === 0;
}

function textOf(key: Uint8Array): string {
  return Buffer.from(key).toString("latin1");
}
