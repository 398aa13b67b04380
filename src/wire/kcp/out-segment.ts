/** A segment on its way, with what was known when it was sent last. */
export class OutSegment {
  readonly bytes: Uint8Array;
  byteCount = 0;
  sn = 0;
  /** 0 while it waits to be sent for the first time. */
  transmissions = 0;
  isLost = false;
  /** It is in the list of those to be sent again; it may have come after all. */
  isListed = false;
  sentAtMs = 0;
  ts = 0;
  /** Which of all transmissions the last one was. */
  order = 0;
  /** For the rate: how much had arrived, when the last of that did, and when that had been sent. */
  delivered = 0;
  deliveredAtMs = 0;
  firstSentAtMs = 0;
  isAppLimited = false;
  /** Neighbours in the order of transmission. */
  previous: OutSegment | undefined = undefined;
  next: OutSegment | undefined = undefined;

  constructor(maxBytes: number) {
    this.bytes = new Uint8Array(maxBytes);
  }
}

/** Those on their way, the one that was sent longest ago first. */
export class FlyingList {
  first: OutSegment | undefined = undefined;
  #last: OutSegment | undefined = undefined;
  byteCount = 0;

  append(segment: OutSegment): void {
    segment.previous = this.#last;
    segment.next = undefined;
    if (this.#last === undefined) this.first = segment;
    else this.#last.next = segment;
    this.#last = segment;
    this.byteCount += segment.byteCount;
  }

  remove(segment: OutSegment): void {
    const { previous, next } = segment;
    if (previous === undefined) this.first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    segment.previous = undefined;
    segment.next = undefined;
    this.byteCount -= segment.byteCount;
  }
}
