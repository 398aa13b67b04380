const BITS = 32;
/** Says that a mark is one of these: kubelet's and most others' marks are lower. */
const OUR_BIT = 29;
/** Every such mark has it. */
export const INSIDE_BIT: number = 2 ** OUR_BIT;
/** Kubelet drops what carries it. */
const KUBELET_BIT = 15;
const TEXT_PRIME = 16_777_619;
const TEXT_OFFSET = 2_166_136_261;

/**
 * Marks for services whose insiders come to other endpoints than outsiders do. Each has the mark of
 * its name, so that it is the same after a restart, unless another one has it already.
 */
export class InsideMarks {
  readonly #bits: readonly number[];
  /** By the service, then by the name of what it has the mark for. */
  readonly #byService = new Map<string, Map<string, number>>();
  readonly #taken = new Set<number>();
  readonly #masquerade: number;

  constructor(masqueradeBit: number) {
    const reserved = new Set([masqueradeBit, KUBELET_BIT, OUR_BIT, BITS - 1, BITS - 2]);
    this.#bits = Array.from({ length: BITS }, (_, bit) => bit).filter((bit) => !reserved.has(bit));
    this.#masquerade = 2 ** masqueradeBit;
  }

  /** How many are taken. */
  get size(): number {
    return this.#taken.size;
  }

  /** The mark of one thing of a service. */
  markOf(service: string, name: string): number {
    const own = this.#byService.get(service) ?? new Map<string, number>();
    const known = own.get(name);
    if (known !== undefined) return known;
    let number = hashOf(`${service}:${name}`);
    while (this.#taken.has(this.#spread(number))) number += 1;
    const mark = this.#spread(number);
    this.#byService.set(service, own.set(name, mark));
    this.#taken.add(mark);
    return mark;
  }

  /** Says which marks of a service are in use; its others are free. */
  keepOnly(service: string, used: ReadonlySet<number>): void {
    const own = this.#byService.get(service);
    if (own === undefined) return;
    for (const [name, mark] of own) {
      if (used.has(mark)) continue;
      own.delete(name);
      this.#taken.delete(mark);
    }
    if (own.size === 0) this.#byService.delete(service);
  }

  /** The mark and what it is once the packet is marked for masquerading, too. */
  bothOf(mark: number): readonly [number, number] {
    return [mark, mark + this.#masquerade];
  }

  /** Puts the bits of a number where nobody else's are. */
  #spread(number: number): number {
    let mark = INSIDE_BIT;
    this.#bits.forEach((bit, index) => {
      if (Math.floor(number / 2 ** index) % 2 === 1) mark += 2 ** bit;
    });
    return mark;
  }
}

/**
 * Whether a mark is one of those that packets are given, or one of them with a bit more, which says that
 * the packet is to be masqueraded: which bit that is may have been another one in an earlier run.
 */
export function isGivenMark(mark: number, given: ReadonlySet<number>): boolean {
  if (given.has(mark)) return true;
  const bits = Array.from({ length: BITS }, (_, bit) => 2 ** bit);
  return bits.some((bit) => Math.floor(mark / bit) % 2 === 1 && given.has(mark - bit));
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = TEXT_OFFSET;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), TEXT_PRIME) >>> 0;
  }
  return hash;
}
