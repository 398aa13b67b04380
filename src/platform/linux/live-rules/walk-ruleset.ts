import { familyOf } from "../../../core/model/address.ts";
import type { Packet } from "../../../core/route/packet.ts";
import { type LiveFacts, LivePacket } from "./live-packet.ts";
import { passesLinks } from "./passes-links.ts";
import { enumeratePaths } from "./paths.ts";
import { type ChainEnd, RuleWalker, type Suppose, type TraceEntry } from "./rule-walker.ts";
import type { HookName, LiveChain, LiveRuleset } from "./ruleset.ts";

/** Where a packet comes to. */
export type LiveEnd =
  | {
      readonly kind: "endpoint";
      readonly address: string;
      readonly port: number;
      readonly masquerade: boolean;
    }
  /** `unknown` is where something comes to that is supposed to do what nobody knows. */
  | { readonly kind: "untouched" | "reject" | "drop" | "unknown" };

/** One of the ways that a packet can go. */
export interface LiveOutcome {
  readonly end: LiveEnd;
  readonly probability: number;
  readonly trace: readonly TraceEntry[];
  /** What was met and could not be judged; the end is a guess where there is anything. */
  readonly unknown: readonly string[];
}

/**
 * All ways that the first packet of a flow can go, as rules and machine are at this moment.
 * @param suppose what is not known is passed over where it is missing
 */
export function walkRuleset(
  rules: LiveRuleset,
  packet: Packet,
  facts: LiveFacts,
  suppose: Suppose = () => false,
): readonly LiveOutcome[] {
  const { paths, isComplete } = enumeratePaths((choose) => {
    const live = new LivePacket(packet, facts);
    const walker = new RuleWalker(rules, live, choose, suppose);
    const end = new Journey(rules, live, walker, facts).travel();
    return { end, trace: walker.trace, unknown: walker.unknown };
  });
  const more = isComplete ? [] : [`more than ${paths.length} ways`];
  return paths
    .filter(({ probability }) => probability > 0)
    .map(({ probability, result: { end, trace, unknown } }) => ({
      end,
      probability,
      trace,
      unknown: [...unknown, ...more],
    }));
}

/** The hooks that a packet passes, in order. */
class Journey {
  readonly #rules: LiveRuleset;
  readonly #packet: LivePacket;
  readonly #walker: RuleWalker;
  readonly #facts: LiveFacts;

  constructor(rules: LiveRuleset, packet: LivePacket, walker: RuleWalker, facts: LiveFacts) {
    this.#rules = rules;
    this.#packet = packet;
    this.#walker = walker;
    this.#facts = facts;
  }

  travel(): LiveEnd {
    const stop = this.#packet.isFromNode ? this.#fromNode() : this.#fromElsewhere();
    if (stop !== undefined) return { kind: stop };
    const { isDestinationTranslated, dst, dstPort, isSourceTranslated } = this.#packet;
    return isDestinationTranslated
      ? { kind: "endpoint", address: dst, port: dstPort, masquerade: isSourceTranslated }
      : { kind: "untouched" };
  }

  #fromElsewhere(): Stop {
    const packet = this.#packet;
    packet.hasComeIn = true;
    const stop = this.#hook("ingress") ?? this.#hook("prerouting");
    if (stop !== undefined) return stop;
    if (packet.isForThisMachine) return this.#hook("input") ?? this.#sendOn();
    packet.isLeaving = true;
    return this.#hook("forward") ?? this.#leave();
  }

  /** What IPVS sends to another machine goes out as what this one sends, and meets those rules. */
  #sendOn(): Stop {
    const packet = this.#packet;
    if (!packet.isBeingSentOn) return undefined;
    packet.isBeingSentOn = false;
    packet.wasSentOn = true;
    if (packet.isForThisMachine) return undefined;
    packet.isLeaving = true;
    return this.#hook("output") ?? this.#leave();
  }

  #leave(): Stop {
    return this.#hook("postrouting") ?? this.#hook("egress");
  }

  /** To an address of this machine it leaves by loopback, and comes in again. */
  #fromNode(): Stop {
    const packet = this.#packet;
    packet.isLeaving = true;
    const refused = this.#hook("output");
    if (refused !== undefined) return refused;
    if (packet.isBeingSentOn) return this.#sendOn();
    const stop = this.#leave();
    if (stop !== undefined || !packet.isForThisMachine) return stop;
    packet.isLeaving = false;
    packet.hasComeIn = true;
    return (
      this.#hook("ingress") ?? this.#hook("prerouting") ?? this.#hook("input") ?? this.#sendOn()
    );
  }

  #hook(name: HookName): Stop {
    for (const chain of this.#chainsAt(name)) {
      if (chain.hook?.isNat === true && this.#isSettled(name)) continue;
      const end = this.#walkHere(chain);
      if (this.#packet.isBeingSentOn) return undefined;
      if (end === "drop" || end === "reject" || end === "unknown") return end;
      if (end === "through" && chain.hook?.policy === "drop") return "drop";
    }
    // What no rule translated stays as it is for good.
    if (isDestinationHook(name)) this.#packet.isDestinationSettled = true;
    else if (isSourceHook(name)) this.#packet.isSourceSettled = true;
    return undefined;
  }

  #walkHere(chain: LiveChain): ChainEnd {
    const packet = this.#packet;
    const isPassed = passesLinks(chain.hook, packet, this.#facts);
    if (isPassed === true) return this.#walker.walk(chain);
    const what = `${chain.id}: whether packets pass its link`;
    if (isPassed === false || !this.#walker.supposes(chain, what)) return "accept";
    packet.isBeneath = true;
    const end = this.#walker.walk(chain);
    packet.isBeneath = false;
    return end;
  }

  #isSettled(name: HookName): boolean {
    const { isDestinationSettled, isSourceSettled } = this.#packet;
    return isDestinationHook(name) ? isDestinationSettled : isSourceSettled;
  }

  #chainsAt(name: HookName): readonly LiveChain[] {
    const family = familyOf(this.#packet.dst);
    return [...this.#rules.chains.values()]
      .filter(({ hook, families }) => hook?.name === name && families.includes(family))
      .filter(({ hook }) => hook?.isIpvs !== true || !this.#packet.wasSentOn)
      .sort((a, b) => (a.hook?.priority ?? 0) - (b.hook?.priority ?? 0));
  }
}

/** How a packet ended on its way; undefined where it goes on. */
type Stop = "drop" | "reject" | "unknown" | undefined;

function isDestinationHook(name: HookName): boolean {
  return name === "prerouting" || name === "output";
}

function isSourceHook(name: HookName): boolean {
  return name === "input" || name === "postrouting";
}
