import { type Family, familyOf } from "../../../core/model/address.ts";
import { entryText } from "../../../wire/netlink/ipset/ip-set.ts";
import { findSetEntry } from "./find-set-entry.ts";
import { hashValue } from "./hash-value.ts";
import type { LivePacket } from "./live-packet.ts";
import type { Choose } from "./paths.ts";
import { matchesPattern, patternText, type Value, valueKey, valueText } from "./pattern.ts";
import type {
  ContainerRef,
  Expression,
  LiveChain,
  LiveContainer,
  LiveElement,
  LiveRule,
  LiveRuleset,
  RuleVerdict,
  Step,
} from "./ruleset.ts";

/** What a packet met on its way, in order. */
export interface TraceEntry {
  readonly chain: string;
  readonly rule: string;
  /** Elements of sets and maps that were found: `services: 10.96.0.1 . tcp . 80 : goto random-3`. */
  readonly elements: readonly string[];
}

/** How a chain ended. */
export type ChainEnd = "accept" | "drop" | "reject" | "unknown" | "through";

type StepEnd = "matched" | "not-matched" | RuleVerdict | "reject" | "unknown";

/**
 * Whether something that is not known is supposed to be otherwise than where nobody does it.
 * @param subject the same one is always answered the same
 */
export type Suppose = (subject: object, what: string) => boolean;

/** What a redirect leads to; the address of an interface is as much this machine. */
const LOOPBACK: Readonly<Record<Family, string>> = { v4: "127.0.0.1", v6: "::1" };

/** Connections are looked for at this priority: NF_IP_PRI_CONNTRACK of linux/netfilter_ipv4.h. */
const CONNTRACK_PRIORITY = -200;

/** Deeper than the kernel allows. */
const MAX_DEPTH = 32;

/** Leads one packet through chains, one way. */
export class RuleWalker {
  readonly #rules: LiveRuleset;
  readonly #packet: LivePacket;
  readonly #choose: Choose;
  readonly #suppose: Suppose;
  #priority = 0;
  #isInDoubt = false;
  #elements: string[] = [];
  readonly trace: TraceEntry[] = [];
  /** What was met and not understood, or not known. */
  readonly unknown: string[] = [];

  constructor(rules: LiveRuleset, packet: LivePacket, choose: Choose, suppose: Suppose) {
    this.#rules = rules;
    this.#packet = packet;
    this.#choose = choose;
    this.#suppose = suppose;
  }

  /** Notes what is not known. @returns whether it is supposed to be so */
  supposes(subject: object, what: string): boolean {
    this.unknown.push(what);
    return this.#suppose(subject, what);
  }

  /** @param chain one that a hook leads to */
  walk(chain: LiveChain): ChainEnd {
    this.#priority = chain.hook?.priority ?? 0;
    const end = this.#walk(chain, 0);
    return end === "return" ? "through" : end;
  }

  #walk(chain: LiveChain, depth: number): ChainEnd | "return" {
    if (depth > MAX_DEPTH) {
      const what = `${chain.id}: chains lead to chains more than ${MAX_DEPTH} times`;
      return this.supposes(chain, what) ? "unknown" : "through";
    }
    for (const rule of chain.rules) {
      this.#elements = [];
      const end = this.#rule(rule, chain);
      if (end === "not-matched") continue;
      this.trace.push({ chain: chain.id, rule: rule.text, elements: this.#elements });
      const result = this.#follow(end, chain, depth);
      if (result !== "through") return result;
    }
    return "through";
  }

  #follow(end: StepEnd, chain: LiveChain, depth: number): ChainEnd | "return" {
    if (end === "reject" || end === "unknown") return end;
    if (end === "matched" || end === "not-matched") return "through";
    switch (end.kind) {
      case "accept":
      case "drop":
      case "return":
        return end.kind;
      case "continue":
        return "through";
      case "jump":
      case "goto":
        return this.#enter(end, chain, depth);
    }
  }

  /** A return from what `goto` led to returns from here, too. */
  #enter(
    verdict: Extract<RuleVerdict, { chain: string }>,
    from: LiveChain,
    depth: number,
  ): ChainEnd | "return" {
    const target = this.#rules.chains.get(verdict.chain);
    if (target === undefined) {
      const what = `${from.id}: there is no chain ${verdict.chain}`;
      return this.supposes(verdict, what) ? "unknown" : "through";
    }
    const end = this.#walk(target, depth + 1);
    if (end !== "through" && end !== "return") return end;
    return verdict.kind === "goto" ? "return" : "through";
  }

  #rule(rule: LiveRule, chain: LiveChain): StepEnd {
    for (const [index, step] of rule.steps.entries()) {
      this.#isInDoubt = false;
      const plain = this.#step(step, chain);
      const end = this.#isInDoubt ? this.#decide(plain, rule, index) : plain;
      if (end !== "matched") return end;
    }
    return "matched";
  }

  /** What is not known may be otherwise, which matters where the rule does something then. */
  #decide(end: StepEnd, rule: LiveRule, index: number): StepEnd {
    const [step, ...following] = rule.steps.slice(index);
    if (step === undefined || [step, ...following].every(isQuestion)) return end;
    // All that a rule asks and nobody can answer is answered at once.
    const subject = end === "matched" ? step : rule;
    if (!this.#suppose(subject, this.unknown.at(-1) ?? rule.text)) return end;
    if (!isQuestion(step)) return "unknown";
    return end === "matched" ? "not-matched" : "matched";
  }

  #step(step: Step, chain: LiveChain): StepEnd {
    const packet = this.#packet;
    switch (step.kind) {
      case "match":
        return this.#match(step, chain);
      case "has-any": {
        const words = packet.readWords(step.field);
        const isMatch = step.words.some((word) => words.includes(word));
        return isMatch === step.isNegated ? "not-matched" : "matched";
      }
      case "in-set":
      case "map-mark":
        return this.#askSet(step, chain);
      case "send-on":
        packet.sendOn(step.address, step.port);
        return { kind: "accept" };
      case "chance": {
        const { probability } = step;
        return this.#choose([probability, 1 - probability]) === 0 ? "matched" : "not-matched";
      }
      case "recent":
        return this.#askRecent(step, chain);
      case "assign": {
        const value = this.#evaluate(step.value, chain);
        if (value === undefined) return "not-matched";
        packet[step.field] = Number(value);
        return "matched";
      }
      case "verdict":
        return step.verdict;
      case "verdict-map":
        return this.#lookUp(step.key, step.container, chain)?.verdict ?? "not-matched";
      case "translate-destination":
        return this.#translateDestination(step, chain);
      case "translate-source":
        packet.isSourceSettled = true;
        packet.isSourceTranslated = true;
        return { kind: "accept" };
      case "reject":
        return step.protocol === undefined || step.protocol === packet.protocol
          ? "reject"
          : "not-matched";
      case "untrack":
        return this.#untrack();
      case "aside":
        return "matched";
      case "unknown":
        return this.#doNotKnow(chain, step.text);
    }
  }

  #askRecent({ list, seconds }: Extract<Step, { kind: "recent" }>, chain: LiveChain): StepEnd {
    const wasSeen = this.#packet.wasSeen(list, seconds);
    if (wasSeen === undefined) return this.#doNotKnow(chain, `list ${list} of recent`);
    return wasSeen ? "matched" : "not-matched";
  }

  /** Whose connection was found already stays with it. */
  #untrack(): StepEnd {
    if (this.#priority < CONNTRACK_PRIORITY) this.#packet.untrack();
    return "matched";
  }

  #askSet(step: Extract<Step, { kind: "in-set" | "map-mark" }>, chain: LiveChain): StepEnd {
    const entries = this.#rules.ipSets?.get(step.set);
    if (entries === undefined) return this.#doNotKnow(chain, `the set ${step.set}`);
    const entry = findSetEntry(entries, step.directions, this.#packet);
    if (entry !== undefined) this.#elements.push(`${step.set}: ${entryText(entry)}`);
    if (step.kind === "map-mark") {
      this.#packet.mark = entry?.mark ?? this.#packet.mark;
      return "matched";
    }
    return (entry === undefined) === step.isNegated ? "matched" : "not-matched";
  }

  #match({ left, right, isNegated }: Extract<Step, { kind: "match" }>, chain: LiveChain): StepEnd {
    if (right.kind === "container") {
      const container = this.#container(right.container, chain);
      const key = this.#evaluate(left, chain);
      if (container === undefined || key === undefined) return "not-matched";
      const isFound = this.#find(container, key, chain) !== undefined;
      return isFound === isNegated ? "not-matched" : "matched";
    }
    const value = this.#evaluate(left, chain);
    if (value === undefined) return "not-matched";
    return matchesPattern(right.pattern, value) === isNegated ? "not-matched" : "matched";
  }

  #translateDestination(
    step: Extract<Step, { kind: "translate-destination" }>,
    chain: LiveChain,
  ): StepEnd {
    const packet = this.#packet;
    const address = step.address && this.#evaluate(step.address, chain);
    if (step.address !== undefined && address === undefined) return "not-matched";
    const port = step.port && this.#evaluate(step.port, chain);
    if (step.port !== undefined && port === undefined) return "not-matched";
    const [ip, own] = typeof address === "object" ? address : [address];
    packet.dst = ip === undefined ? LOOPBACK[familyOf(packet.dst)] : String(ip);
    packet.dstPort = Number(own ?? port ?? packet.dstPort);
    packet.isDestinationSettled = true;
    packet.isDestinationTranslated = true;
    return { kind: "accept" };
  }

  /** Undefined where nobody knows, or where a map has no such element: then the rule ends. */
  #evaluate(expression: Expression, chain: LiveChain): Value | undefined {
    switch (expression.kind) {
      case "constant":
        return expression.value;
      case "field": {
        if (!this.#hasField(expression)) return undefined;
        const value = this.#packet.read(expression.field);
        if (value === undefined) this.#doNotKnow(chain, expression.field);
        return value;
      }
      case "tuple": {
        const parts = expression.parts.map((part) => this.#evaluate(part, chain));
        const known = parts.filter((part) => part !== undefined);
        return known.length === parts.length ? known : undefined;
      }
      case "bits": {
        const left = this.#evaluate(expression.left, chain);
        const right = this.#evaluate(expression.right, chain);
        if (left === undefined || right === undefined) return undefined;
        return combine(Number(left), expression.operator, Number(right));
      }
      case "one-of": {
        const { count, offset } = expression;
        return offset + this.#choose(Array.from({ length: count }, () => 1 / count));
      }
      case "hash": {
        const value = this.#evaluate(expression.of, chain);
        if (value === undefined) return undefined;
        const { modulus, seed, offset } = expression;
        return hashValue(value, modulus, seed) + offset;
      }
      case "map":
        return this.#lookUp(expression.key, expression.container, chain)?.value;
      case "unknown":
        if (this.#hasField(expression)) this.#doNotKnow(chain, expression.text);
        return undefined;
    }
  }

  #hasField({ protocol, family }: Extract<Expression, { kind: "field" | "unknown" }>): boolean {
    const packet = this.#packet;
    const isOfProtocol = protocol === undefined || protocol === packet.protocol;
    return isOfProtocol && (family === undefined || family === familyOf(packet.dst));
  }

  #lookUp(key: Expression, ref: ContainerRef, chain: LiveChain): LiveElement | undefined {
    const container = this.#container(ref, chain);
    const value = this.#evaluate(key, chain);
    if (value === undefined || container === undefined) return undefined;
    return this.#find(container, value, chain);
  }

  #container(ref: ContainerRef, chain: LiveChain): LiveContainer | undefined {
    if (typeof ref !== "string") return ref;
    const container = this.#rules.containers.get(ref);
    if (container === undefined) this.#doNotKnow(chain, `${ref}, which does not exist`);
    return container;
  }

  #find(container: LiveContainer, value: Value, chain: LiveChain): LiveElement | undefined {
    const element = findElement(container, value);
    if (element === undefined && !container.isComplete) {
      this.#doNotKnow(chain, `elements of ${container.id}`);
    }
    if (element !== undefined) this.#elements.push(elementText(container, element));
    return element;
  }

  #doNotKnow(chain: LiveChain, what: string): StepEnd {
    this.unknown.push(`${chain.id}: ${what}`);
    this.#isInDoubt = true;
    return "not-matched";
  }
}

/** Whether it leaves the packet as it is, and where it is. */
function isQuestion(step: Step): boolean {
  switch (step.kind) {
    case "match":
    case "has-any":
    case "in-set":
    case "chance":
    case "recent":
    case "aside":
      return true;
    case "unknown":
      return step.isQuestion;
    default:
      return false;
  }
}

function combine(left: number, operator: "&" | "|" | "^", right: number): number {
  switch (operator) {
    case "&":
      return (left & right) >>> 0;
    case "|":
      return (left | right) >>> 0;
    case "^":
      return (left ^ right) >>> 0;
  }
}

function findElement(container: LiveContainer, value: Value): LiveElement | undefined {
  const exact = container.exact.get(valueKey(value));
  if (exact !== undefined) return exact;
  const others = container.others.filter(({ pattern }) => pattern.kind !== "anything");
  const found = others.find(({ pattern }) => matchesPattern(pattern, value));
  return found ?? container.others.find(({ pattern }) => pattern.kind === "anything");
}

function elementText(container: LiveContainer, { pattern, value, verdict }: LiveElement): string {
  const behind =
    value !== undefined ? ` : ${valueText(value)}` : verdict ? ` : ${verdictText(verdict)}` : "";
  return `${container.id}: ${patternText(pattern)}${behind}`;
}

function verdictText(verdict: RuleVerdict): string {
  return "chain" in verdict ? `${verdict.kind} ${verdict.chain}` : verdict.kind;
}
