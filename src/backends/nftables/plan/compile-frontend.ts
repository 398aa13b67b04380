import { EMPTY } from "../../../core/model/common.ts";
import type { NftChain, NftElement } from "../../../platform/linux/nft/table-script.ts";
import { assignSlots } from "./assign-slots.ts";
import { type ChainFactory, type Destination, FIRST_SLOT, REFUSE } from "./chains.ts";
import { classId } from "./class-id.ts";
import { NAMES } from "./containers.ts";
import type { AccessList, Frontend, Target, TargetList } from "./frontend.ts";
import { memberIds } from "./member-ids.ts";
import { networkSet } from "./network-set.ts";
import type { TableFacts } from "./table-facts.ts";

/** The targets in their slots. */
export interface Slots {
  readonly whole: readonly Target[];
  /** Of the list that a Local policy leaves. */
  readonly local: readonly Target[];
}

export const NO_SLOTS: Slots = { whole: EMPTY, local: EMPTY };

/** A frontend as the kernel holds it. */
export interface CompiledFrontend {
  readonly key: string;
  readonly label: string;
  readonly verdict: string;
  /** Those that it needs, all of them. */
  readonly chains: readonly NftChain[];
  readonly slots: Slots;
  readonly isSticky: boolean;
  /** Who may call; empty where the chains tell, or everyone may. */
  readonly allowed: readonly string[];
}

/** @param before the slots that it has now: they change as little as can be */
export function compileFrontend(
  frontend: Frontend,
  before: Slots,
  factory: ChainFactory,
  facts: TableFacts,
): CompiledFrontend {
  const { scope, access } = frontend;
  const slots: Slots = {
    whole: assignSlots(before.whole, scope.list.slots),
    local: scope.kind === "external-local" ? assignSlots(before.local, scope.local.slots) : EMPTY,
  };
  const path = new Path(frontend, factory);
  const scoped = path.throughScope(slots);
  const end = access === undefined ? scoped : path.throughAccess(scoped, access, facts);
  return {
    key: frontend.key,
    label: frontend.label,
    verdict: end.verdict,
    chains: path.chains,
    slots,
    isSticky: frontend.affinitySeconds > 0,
    allowed: access?.kind === "networks" ? access.networks : EMPTY,
  };
}

/** Builds the way of a packet from its end, and keeps the chains that it takes. */
class Path {
  readonly chains: NftChain[] = [];
  readonly #frontend: Frontend;
  readonly #factory: ChainFactory;

  constructor(frontend: Frontend, factory: ChainFactory) {
    this.#frontend = frontend;
    this.#factory = factory;
  }

  throughScope({ whole, local }: Slots): Destination {
    const { scope } = this.#frontend;
    if (scope.kind === "external-local") {
      const inCluster = this.#balance(scope.list, whole.length, false);
      const here = this.#balance(scope.local, local.length, true);
      if (inCluster.verdict === here.verdict) return here;
      return this.#through(this.#factory.externalLocal(inCluster, here));
    }
    const balance = this.#balance(scope.list, whole.length, false);
    if (whole.length === 0) return balance;
    const chain =
      scope.kind === "internal" ? this.#factory.internal(balance) : this.#factory.external(balance);
    return chain === undefined ? balance : this.#through(chain);
  }

  throughAccess(to: Destination, access: AccessList, facts: TableFacts): Destination {
    return this.#through(
      access.kind === "networks"
        ? this.#factory.allowed(to)
        : guardChain(this.#frontend, access, to, facts),
    );
  }

  #balance({ whenEmpty }: TargetList, slots: number, isLocal: boolean): Destination {
    if (slots === 0) {
      return { name: whenEmpty, verdict: whenEmpty === "drop" ? "drop" : `goto ${REFUSE}` };
    }
    const { affinitySeconds } = this.#frontend;
    const method = slots > 1 ? this.#frontend.method : "random";
    const owner = method === "round-robin" ? { owner: slugOf(this.#frontend) } : {};
    return this.#through(
      this.#factory.balance({ method, slots, isLocal, affinitySeconds, ...owner }),
    );
  }

  #through(chain: NftChain): Destination {
    this.chains.push(chain);
    return { name: chain.name, verdict: `goto ${chain.name}` };
  }
}

/** A chain of its own for a listener whose security group says who may call. */
function guardChain(
  frontend: Frontend,
  { rules, otherwise }: Extract<AccessList, { kind: "rules" }>,
  to: Destination,
  { nft }: TableFacts,
): NftChain {
  const verdictOf = (allow: boolean): string => (allow ? to.verdict : "drop");
  return {
    name: `guard-${slugOf(frontend)}`,
    comment: `who may call ${frontend.label}`,
    rules: [
      ...rules.map(
        ({ network, allow }) => `${nft} saddr ${networkSet([network])} ${verdictOf(allow)}`,
      ),
      verdictOf(otherwise),
    ],
  };
}

/** An address and port as a part of a chain's name, which has no colons: `fd00.96..10-tcp-80`. */
function slugOf({ address, protocol, port }: Frontend): string {
  return `${address.replaceAll(":", ".")}-${protocol.toLowerCase()}-${port}`;
}

/** All elements of a frontend. */
export function elementsOf(compiled: CompiledFrontend): readonly NftElement[] {
  const { key, label, verdict, slots, isSticky, allowed } = compiled;
  const elements: NftElement[] = [
    { container: NAMES.services, key, value: verdict, comment: label },
  ];
  for (const network of allowed) {
    elements.push({ container: NAMES.allowed, key: `${key} . ${network}` });
  }
  const ids = isSticky ? memberIds([...slots.whole, ...slots.local]) : undefined;
  addSlots(elements, key, slots.whole, ids, NAMES.endpoints, NAMES.choices);
  addSlots(elements, key, slots.local, ids, NAMES.localEndpoints, NAMES.localChoices);
  return elements;
}

/** @param ids with affinity, the numbers of the targets: slots then hold these */
function addSlots(
  elements: NftElement[],
  service: string,
  targets: readonly Target[],
  ids: ReadonlyMap<Target, string> | undefined,
  endpoints: string,
  choices: string,
): void {
  for (const [index, target] of targets.entries()) {
    const key = `${service} . ${classId(FIRST_SLOT + index)}`;
    const id = ids?.get(target);
    elements.push(
      id === undefined
        ? { container: endpoints, key, value: target }
        : { container: choices, key, value: id },
    );
  }
  if (ids === undefined) return;
  for (const target of new Set(targets)) {
    elements.push({ container: endpoints, key: `${service} . ${ids.get(target)}`, value: target });
  }
}
