import type { GlobalState } from "../core/store/state.ts";
import type { Op } from "../core/view/ops.ts";
import type { NodePlace } from "../core/view/select.ts";
import { viewService } from "../core/view/service-plan.ts";
import { NEITHER, SCOPES, scopesOf } from "../wire/sets/scopes.ts";
import type { EndpointOp, OldNodeChange } from "./node-frames.ts";

/**
 * Turns the changes of one watcher into what a client can take that knows only the old contract: no
 * further sets, no endpoint in neither scope, none that it could not reach by address.
 */
export class OldNodeView {
  /** Paths that the watcher was told and the client was not. */
  readonly #withheld = new Set<string>();

  /** To be called before anything else happens to the store: it reads the state that `ops` lead to. */
  plan(ops: readonly Op[], state: GlobalState, nodeName: string): OldNodeChange {
    const isReset = ops[0]?.op === "reset";
    if (isReset) this.#withheld.clear();
    const place = { name: nodeName, zone: state.nodes.get(nodeName)?.zone ?? "" };
    const candidates = isReset ? ops.filter(isEndpointSet) : endpointsToSend(ops, state, place);
    const deleted = ops.flatMap((op) =>
      op.op === "delete" && op.set === "endpoints" && !this.#withheld.delete(op.path)
        ? [op.path]
        : [],
    );
    const bits: number[] = [];
    const endpointSets: EndpointOp[] = [];
    for (const op of candidates) {
      const service = state.services.get(op.value.service)?.service;
      const scopes = service === undefined ? NEITHER : scopesOf(op.value, service);
      if (scopes === NEITHER || op.value.endpoint.addresses.length === 0) {
        if (!isReset && !this.#withheld.has(op.path)) deleted.push(op.path);
        this.#withheld.add(op.path);
        continue;
      }
      this.#withheld.delete(op.path);
      endpointSets.push(op);
      bits.push(SCOPES.indexOf(scopes));
    }
    return {
      isReset,
      serviceSets: ops.flatMap((op) => (op.op === "set" && op.set === "services" ? [op] : [])),
      // A copy has no room left to grow in, which a client that stops reading would hold.
      endpointSets: endpointSets.slice(),
      scopeBits: Uint8Array.from(bits),
      endpointDeletes: deleted.sort().reverse(),
      serviceDeletes: ops.flatMap((op) =>
        op.op === "delete" && op.set === "services" ? [op.path] : [],
      ),
    };
  }
}

/**
 * The endpoints of a change, and all those of a service that changed itself: their scopes follow
 * from its policies, though nothing else of them may have changed.
 */
function endpointsToSend(
  ops: readonly Op[],
  state: GlobalState,
  place: NodePlace,
): readonly EndpointOp[] {
  const byPath = new Map<string, EndpointOp>();
  for (const op of ops) {
    if (isEndpointSet(op)) byPath.set(op.path, op);
    if (op.op !== "set" || op.set !== "services") continue;
    const service = state.services.get(op.path);
    if (service === undefined) continue;
    for (const endpoint of viewService(service, place).endpoints) {
      byPath.set(endpoint.path, endpoint);
    }
  }
  return [...byPath.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

function isEndpointSet(op: Op): op is EndpointOp {
  return op.op === "set" && op.set === "endpoints";
}
