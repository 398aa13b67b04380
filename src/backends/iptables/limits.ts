import type { Group } from "../../core/model/group.ts";
import { keyOf } from "../../core/model/object.ts";
import type { ServiceEndpoints } from "../../core/sinks/fullstate.ts";
import { enumerateNames } from "../enumerate-names.ts";

/** Methods whose shares a random choice by weight has, too, over many connections. */
const RANDOM_ENOUGH: readonly string[] = ["random", "round-robin", "weighted-round-robin"];

/** What is asked for beside services. */
export interface FurtherLimits {
  /** The name of this node, where the state does not know it. */
  readonly unknownNode: string | undefined;
  /** Keys of listeners that rules can not serve. */
  readonly listeners: readonly string[];
  readonly groups: readonly Group[];
}

/** What rules can not do of what is asked; kept for each service, so that a change costs little. */
export class Limits {
  readonly #withNodePort = new Set<string>();
  /** Keys of endpoints without an address, by service. */
  readonly #nameless = new Map<string, readonly string[]>();

  /** @param entry undefined where the service is gone */
  update(key: string, entry: ServiceEndpoints | undefined): void {
    const hasNodePort =
      entry?.service.service.ports.some(({ nodePort }) => nodePort !== 0) === true;
    if (hasNodePort) this.#withNodePort.add(key);
    else this.#withNodePort.delete(key);
    const nameless = (entry?.endpoints ?? [])
      .filter(({ endpoint }) => endpoint.addresses.length === 0)
      .map(({ endpoint }) => keyOf(endpoint));
    if (nameless.length > 0) this.#nameless.set(key, nameless);
    else this.#nameless.delete(key);
  }

  /** One line for each reason. */
  lines({ unknownNode, listeners, groups }: FurtherLimits): readonly string[] {
    const isNodeMissed = unknownNode !== undefined && this.#withNodePort.size > 0;
    return [
      ...(isNodeMissed
        ? [
            `the state has no Node "${unknownNode}", so its addresses are not known: node ports answer on none`,
          ]
        : []),
      ...line(
        "rules hold addresses, no host names and no unix sockets, so these endpoints are not used",
        [...this.#nameless.values()].flat(),
      ),
      ...line(
        "rules lead packets on and do not read them, so these listeners are not served",
        listeners,
      ),
      ...line(
        "rules choose at random by weight, whatever the method of these groups",
        groups.filter(({ method }) => !RANDOM_ENOUGH.includes(method)).map(keyOf),
      ),
      ...line(
        "rules check nobody's health; these groups want it",
        groups.filter(({ healthCheck }) => healthCheck.protocol !== "none").map(keyOf),
      ),
    ];
  }
}

function line(reason: string, names: readonly string[]): readonly string[] {
  return names.length === 0 ? [] : [`${reason}: ${enumerateNames(names)}`];
}
