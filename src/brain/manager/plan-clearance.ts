import { groupKeyOf, keyOf, type ModelObject } from "../../core/model/object.ts";
import type { Ledger, LedgerChange } from "./ledger.ts";
import type { Placements } from "./placements.ts";

/** All instances go from a node, with their own addresses and with the services that have no other. */
export function planClearance(
  node: string,
  ledger: Ledger,
  placements: Placements,
): Required<Pick<LedgerChange, "set" | "delete">> {
  const set: ModelObject[] = [];
  const gone: ModelObject[] = [];
  const numbers = new Map<string, Set<number>>();
  for (const endpoint of placements.on(node)) {
    gone.push(endpoint);
    const key = groupKeyOf(endpoint);
    numbers.set(key, (numbers.get(key) ?? new Set()).add(endpoint.instance));
  }
  for (const [key, instances] of numbers) {
    const service = ledger.get("Service", key);
    if (service === undefined) continue;
    if (placements.inGroup(key).every((endpoint) => endpoint.node === node)) gone.push(service);
    else {
      const edgeIPs = service.edgeIPs.filter(({ instance }) => !instances.has(instance));
      set.push({ ...service, edgeIPs });
    }
  }
  return { set, delete: gone.map((object) => ({ kind: object.kind, key: keyOf(object) })) };
}
