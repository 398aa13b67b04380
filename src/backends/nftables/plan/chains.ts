import type { NftChain } from "../../../platform/linux/nft/table-script.ts";
import { classId } from "./class-id.ts";
import { clientKey, NAMES } from "./containers.ts";
import type { SlotMethod } from "./frontend.ts";
import { nftDuration } from "./nft-duration.ts";
import type { TableFacts } from "./table-facts.ts";

/** What distinguishes the chains that choose a slot: services that agree in it share one. */
export interface BalanceSpec {
  readonly method: SlotMethod;
  readonly slots: number;
  /** Whether of the list that a Local policy leaves. */
  readonly isLocal: boolean;
  readonly affinitySeconds: number;
  /** Where the chain is for one address only, as turns need it: a rule has one counter. */
  readonly owner?: string;
}

/** `goto` a chain, or an end. */
export type NftVerdict = string;

export const REFUSE = "refuse";

/** 0 stands for none. */
export const FIRST_SLOT = 1;

/** As the packet's priority: what was to be found in a map is not there. No slot or target has it. */
export const MISSED = "8000:0";

const MISS = `meta priority set ${MISSED}`;

/** nft wants to know that there are ports. */
const WITH_PORTS = "meta l4proto { tcp, udp, sctp }";

/** The chains of one table that are made when a service needs them. */
export class ChainFactory {
  readonly #facts: TableFacts;
  readonly #made = new Map<string, NftChain>();

  constructor(facts: TableFacts) {
    this.#facts = facts;
  }

  /** Chooses a slot and sends the packet to what is in it. */
  balance(spec: BalanceSpec): NftChain {
    const { method, slots, isLocal, affinitySeconds, owner } = spec;
    const name = [
      `${method}-${slots}`,
      ...(isLocal ? ["local"] : []),
      ...(affinitySeconds > 0 ? ["sticky", nftDuration(affinitySeconds)] : []),
      ...(owner === undefined ? [] : ["for", owner]),
    ].join("-");
    return this.#make(name, () => ({
      name,
      comment: describe(spec),
      rules: affinitySeconds > 0 ? this.#stickyRules(spec) : this.#plainRules(spec),
    }));
  }

  /** For cluster IPs: masquerades as the operator says; undefined where there is nothing to do. */
  internal(to: Destination): NftChain | undefined {
    const { masqueradeAll, workloads } = this.#facts;
    const mark = this.#mark();
    const rule = masqueradeAll ? mark : workloads && `${workloads.isNone} ${mark}`;
    if (rule === undefined) return undefined;
    const name = `internal-${to.name}`;
    const comment = "marks what is to be masqueraded of the calls to a cluster IP";
    return this.#make(name, () => ({ name, comment, rules: [rule, to.verdict] }));
  }

  /** For everything that clients outside call: always masqueraded. */
  external(to: Destination): NftChain {
    const name = `external-${to.name}`;
    const comment = "marks calls from outside: the answer has to come back through this node";
    return this.#make(name, () => ({ name, comment, rules: [this.#mark(), to.verdict] }));
  }

  /** External traffic policy Local: workloads and this node call the whole cluster, others only what is here. */
  externalLocal(whole: Destination, local: Destination): NftChain {
    const name = `external-${whole.name}-or-${local.name}`;
    const { workloads } = this.#facts;
    return this.#make(name, () => ({
      name,
      comment: "external traffic policy Local",
      rules: [
        ...(workloads?.isOne ?? []).map((match) => `${match} ${whole.verdict}`),
        `fib saddr type local ${this.#mark()} ${whole.verdict}`,
        local.verdict,
      ],
    }));
  }

  /** For addresses that not everyone may call. */
  allowed(to: Destination): NftChain {
    const name = `allowed-${to.name}`;
    const caller = `${this.#key()} . ${this.#facts.nft} saddr @${NAMES.allowed}`;
    const comment = "lets in whom the source ranges name";
    return this.#make(name, () => ({ name, comment, rules: [`${caller} ${to.verdict}`, "drop"] }));
  }

  /**
   * `meta priority` carries the slot: nft knows no look-up by what another look-up found. Where packets
   * leave it is cleared.
   */
  #plainRules(spec: BalanceSpec): readonly string[] {
    const send = this.#sendTo(spec);
    return [...this.#slots(spec).map((slot) => `${WITH_PORTS} ${slot} ${send}`), MISS];
  }

  /** An update does not change a value that is there, so the old one is deleted first. */
  #stickyRules(spec: BalanceSpec): readonly string[] {
    const client = clientKey(this.#facts.family);
    const memory = `@${NAMES.remembered}`;
    const choices = spec.isLocal ? NAMES.localChoices : NAMES.choices;
    const timeout = nftDuration(spec.affinitySeconds);
    const remember = `update ${memory} { ${client} timeout ${timeout} : meta priority }`;
    const forget = `delete ${memory} { ${client} : meta priority }`;
    const send = this.#sendTo(spec);
    const chosen = this.#slots(spec).map(
      (slot) => `${slot} meta priority set ${this.#key()} . meta priority map @${choices}`,
    );
    return [
      `${WITH_PORTS} meta priority set ${client} map ${memory} ${remember} ${send}`,
      ...chosen.map((choice) => `${WITH_PORTS} ${choice} ${forget} ${remember} ${send}`),
      // Where the memory is full.
      ...chosen.map((choice) => `${WITH_PORTS} ${choice} ${send}`),
      MISS,
    ];
  }

  #sendTo({ isLocal }: BalanceSpec): string {
    const endpoints = isLocal ? NAMES.localEndpoints : NAMES.endpoints;
    return `dnat ${this.#facts.nft} to ${this.#key()} . meta priority map @${endpoints}`;
  }

  /**
   * The slots to try: the chosen one, then the first. A packet that was counted before a change and
   * looks the slot up after it may find the chosen one gone.
   */
  #slots({ method, slots }: BalanceSpec): readonly string[] {
    const first = `meta priority set ${classId(FIRST_SLOT)}`;
    return slots === 1
      ? [first]
      : [`meta priority set ${this.#number(method, slots)} offset ${FIRST_SLOT}`, first];
  }

  #number(method: SlotMethod, below: number): string {
    switch (method) {
      case "random":
        return `numgen random mod ${below}`;
      case "round-robin":
        return `numgen inc mod ${below}`;
      case "source-hash":
        return `jhash ${this.#facts.nft} saddr mod ${below} seed 0x1`;
    }
  }

  #key(): string {
    return `${this.#facts.nft} daddr . meta l4proto . th dport`;
  }

  #mark(): string {
    return `meta mark set meta mark | ${this.#facts.mark}`;
  }

  #make(name: string, make: () => NftChain): NftChain {
    const known = this.#made.get(name);
    if (known !== undefined) return known;
    const chain = make();
    this.#made.set(name, chain);
    return chain;
  }
}

/** Where a packet goes on, with a name for the chains that lead there. */
export interface Destination {
  readonly name: string;
  readonly verdict: NftVerdict;
}

const METHOD_WORDS: Readonly<Record<SlotMethod, string>> = {
  random: "at random",
  "round-robin": "in turns",
  "source-hash": "by the client's address",
};

function describe({ method, slots, isLocal, affinitySeconds }: BalanceSpec): string {
  const of = isLocal ? `${slots} slots of this node` : `${slots} slots`;
  const sticky = affinitySeconds > 0 ? ", and the client stays there" : "";
  return `one of ${of}, ${METHOD_WORDS[method]}${sticky}`;
}
