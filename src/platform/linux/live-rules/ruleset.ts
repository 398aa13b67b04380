import type { Family } from "../../../core/model/address.ts";
import type { IpSetEntry } from "../../../wire/netlink/ipset/ip-set.ts";
import type { Pattern, Value } from "./pattern.ts";

/**
 * The rules of a kernel as they were read back, whatever tool made them. Nothing here knows what a
 * backend wanted to write.
 */
export interface LiveRuleset {
  /** By id. */
  readonly chains: ReadonlyMap<string, LiveChain>;
  /** Sets and maps, by id. */
  readonly containers: ReadonlyMap<string, LiveContainer>;
  /** Tables whose chains are left out, since no packet meets them: `ip portolan`. */
  readonly dormantTables?: readonly string[];
  /** Tables that packets meet, and that no program is there to read: `ip other`. */
  readonly unreadTables?: readonly string[];
  /** The entries of ipsets by their name, as far as they were read. */
  readonly ipSets?: ReadonlyMap<string, readonly IpSetEntry[]>;
}

export type HookName =
  | "ingress"
  | "prerouting"
  | "input"
  | "forward"
  | "output"
  | "postrouting"
  | "egress";

/** Whose packets pass a chain, by their names; `bridges`: those of every bridge. */
export type HookLinks = readonly string[] | "bridges";

export interface LiveHook {
  readonly name: HookName;
  /** Lower ones come first. */
  readonly priority: number;
  /** Rules that translate see the first packet of a flow only. */
  readonly isNat: boolean;
  /** Virtual servers do not see what they sent. */
  readonly isIpvs?: boolean;
  /** Undefined where packets of all links pass. */
  readonly links?: HookLinks;
  readonly policy: "accept" | "drop";
}

export interface LiveChain {
  /** For people, too: `ip portolan dispatch`, `iptables nat KUBE-SERVICES`. */
  readonly id: string;
  readonly families: readonly Family[];
  /** Undefined for chains that only others lead to. */
  readonly hook: LiveHook | undefined;
  readonly rules: readonly LiveRule[];
}

export interface LiveRule {
  /** As the tool prints it. */
  readonly text: string;
  readonly steps: readonly Step[];
}

/** A set, or a map where its elements have something behind them. */
export interface LiveContainer {
  readonly id: string;
  /** Those that one value alone is equal to, by `valueKey` of it. */
  readonly exact: ReadonlyMap<string, LiveElement>;
  /** All others, in their order. */
  readonly others: readonly LiveElement[];
  /** Whether the reader understood all of its elements. */
  readonly isComplete: boolean;
}

export interface LiveElement {
  readonly pattern: Pattern;
  /** What a map has there. */
  readonly value?: Value;
  readonly verdict?: RuleVerdict;
}

export type RuleVerdict =
  | { readonly kind: "accept" | "drop" | "return" | "continue" }
  | { readonly kind: "jump" | "goto"; readonly chain: string };

/** One part of a rule; they are done one after the other until one does not match. */
export type Step =
  | {
      readonly kind: "match";
      readonly left: Expression;
      readonly right: Operand;
      readonly isNegated: boolean;
    }
  /** Whether any of the words is among those of the field: ct state, ct status. */
  | {
      readonly kind: "has-any";
      readonly field: WordsField;
      readonly words: readonly string[];
      readonly isNegated: boolean;
    }
  /** Whether an ipset has it. */
  | {
      readonly kind: "in-set";
      readonly set: string;
      readonly directions: SetDirections;
      readonly isNegated: boolean;
    }
  /** Gives the packet the mark of the entry that an ipset has for it. */
  | { readonly kind: "map-mark"; readonly set: string; readonly directions: SetDirections }
  /** IPVS sends it to a real server: it leaves the hook here, and goes out as if it came from this node. */
  | { readonly kind: "send-on"; readonly address: string; readonly port: number }
  /** Goes on with this chance. */
  | { readonly kind: "chance"; readonly probability: number }
  /** Whether the client was seen before, by xt_recent. */
  | { readonly kind: "recent"; readonly list: string; readonly seconds: number | undefined }
  | { readonly kind: "assign"; readonly field: AssignableField; readonly value: Expression }
  | { readonly kind: "verdict"; readonly verdict: RuleVerdict }
  | { readonly kind: "verdict-map"; readonly key: Expression; readonly container: ContainerRef }
  | {
      readonly kind: "translate-destination";
      /** Undefined: this machine itself. An address, or an address and a port at once. */
      readonly address: Expression | undefined;
      readonly port: Expression | undefined;
    }
  /** Undefined: an address of the interface that the packet leaves by. */
  | { readonly kind: "translate-source"; readonly address: Expression | undefined }
  | { readonly kind: "reject"; readonly protocol: "tcp" | undefined }
  /** The flow is not tracked, and not translated then. */
  | { readonly kind: "untrack" }
  /** Counts, logs, remembers: the packet goes on as it is. */
  | { readonly kind: "aside" }
  /** What this reader does not know: where a packet meets it, nobody can say what happens. */
  | {
      readonly kind: "unknown";
      readonly text: string;
      /** Whether it does no more than to match, or not. */
      readonly isQuestion: boolean;
    };

/** Whose address, or port, stands for each part of an entry. */
export type SetDirections = readonly ("src" | "dst")[];

export type AssignableField = "mark" | "priority" | "connectionMark";

export type WordsField = "ct-state" | "ct-status" | "ct-direction";

export type PacketField =
  | AssignableField
  | "src"
  | "dst"
  | "srcPort"
  | "dstPort"
  | "protocol"
  | "family"
  | "inInterface"
  | "outInterface"
  | "srcType"
  | "dstType"
  | "connectionState"
  | "originalDst"
  | "originalDstPort"
  | "tcpFlags"
  | "returnLink";

export type Expression =
  /** Where a packet is of another protocol or family, it has no such field: the rule does not match. */
  | {
      readonly kind: "field";
      readonly field: PacketField;
      readonly protocol?: string;
      readonly family?: Family;
    }
  | { readonly kind: "constant"; readonly value: Value }
  | { readonly kind: "tuple"; readonly parts: readonly Expression[] }
  | {
      readonly kind: "bits";
      readonly operator: "&" | "|" | "^";
      readonly left: Expression;
      readonly right: Expression;
    }
  /** One of `count` numbers, each as likely as the others, from `offset` on. */
  | { readonly kind: "one-of"; readonly count: number; readonly offset: number }
  /** A number that stands for what is hashed. */
  | {
      readonly kind: "hash";
      readonly of: Expression;
      readonly modulus: number;
      readonly seed: number;
      readonly offset: number;
    }
  | { readonly kind: "map"; readonly key: Expression; readonly container: ContainerRef }
  | {
      readonly kind: "unknown";
      readonly text: string;
      readonly protocol?: string;
      readonly family?: Family;
    };

/** A named container, or one that stands in the rule. */
export type ContainerRef = string | LiveContainer;

export type Operand =
  | { readonly kind: "pattern"; readonly pattern: Pattern }
  | { readonly kind: "container"; readonly container: ContainerRef };
