import type { Endpoint } from "../../core/model/endpoint.ts";
import { groupKeyOf, keyOf, type ModelObject } from "../../core/model/object.ts";
import type { Ledger, LedgerChange } from "./ledger.ts";
import type { Placements } from "./placements.ts";

/** All instances but those that stay go from a node, with their own addresses and with the services that have no other. */
export function planClearance(
  node: string,
  ledger: Ledger,
  placements: Placements,
  stays: (endpoint: Endpoint) => boolean = () => false,
): Required<Pick<LedgerChange, "set" | "delete">> {
  const set: ModelObject[] = [];
  const gone: ModelObject[] = [];
  const numbers = new Map<string, Set<number>>();
  for (const endpoint of placements.on(node)) {
    if (stays(endpoint)) continue;
    gone.push(endpoint);
    const key = groupKeyOf(endpoint);
    numbers.set(key, (numbers.get(key) ?? new Set()).add(endpoint.instance));
  }
  for (const [key, instances] of numbers) {
    const service = ledger.get("Service", key);
    if (service === undefined) continue;
    const isLeft = (endpoint: Endpoint): boolean => endpoint.node !== node || stays(endpoint);
    if (!placements.inGroup(key).some(isLeft)) gone.push(service);
    else {
      const edgeIPs = service.edgeIPs.filter(({ instance }) => !instances.has(instance));
      set.push({ ...service, edgeIPs });
    }
  }
  return { set, delete: gone.map((object) => ({ kind: object.kind, key: keyOf(object) })) };
}
