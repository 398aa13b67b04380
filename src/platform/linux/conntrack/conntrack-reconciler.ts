import type { Protocol } from "../../../core/model/common.ts";
import type { Listener } from "../../../core/model/listener.ts";
import type { ServiceEndpoints } from "../../../core/sinks/fullstate.ts";
import { type Flow, PROTOCOL_NUMBERS } from "../../../wire/netlink/conntrack/flow.ts";
import type { ConntrackTable } from "./conntrack-table.ts";
import { flowTargetsOf, type TrackedTypes } from "./flow-targets.ts";
import { isStale } from "./is-stale.ts";
import { planDumps } from "./plan-dumps.ts";
import { TargetIndex } from "./target-index.ts";

export interface ConntrackReconcilerOptions {
  /** Of the namespace that the rules are in: `openConntrackTable()`. */
  readonly table: ConntrackTable;
  /** What the backend programs: the flows of other addresses are none of its business. */
  readonly addressTypes: TrackedTypes;
  /** Whether node ports answer on this address now. */
  readonly answersNodePorts: (ip: string) => boolean;
}

export interface ReconcileReport {
  /** Flows of changed services that were looked at. */
  readonly looked: number;
  /** Stale ones that were removed; their clients' next packets are sent anew. */
  readonly removed: number;
}

/** The state that a backend was sent, as far as it is asked for. */
export interface ServiceLookup {
  get(key: string): ServiceEndpoints | undefined;
  /** The listeners of this node that the backend serves and that lead to a service. */
  listenersOf?(key: string): readonly Listener[];
}

/**
 * Keeps the tracked flows of UDP and SCTP services as they should be: to be called after each sync
 * that reached the kernel, with all keys the first time. TCP is left alone: its ends find out by
 * themselves. One call at a time; what fails is done again by the next.
 */
export interface ConntrackReconciler {
  /** @throws CoreError ERR_SYSTEM_CALL */
  reconcile(services: ServiceLookup, changed: Iterable<string>): Promise<ReconcileReport>;
  close(): void;
}

const PORTS = 65_536;

/** A number: it is asked for each flow of the table. */
function portKey(protocol: Protocol, port: number): number {
  return PROTOCOL_NUMBERS[protocol] * PORTS + port;
}

const NOTHING: ReconcileReport = { looked: 0, removed: 0 };

export function createConntrackReconciler(
  options: ConntrackReconcilerOptions,
): ConntrackReconciler {
  const { table, addressTypes, answersNodePorts } = options;
  const index = new TargetIndex(answersNodePorts);
  return {
    reconcile: async (services, changed) => {
      for (const key of changed) {
        const item = services.get(key);
        const targets =
          item === undefined ? [] : flowTargetsOf(item, addressTypes, services.listenersOf?.(key));
        index.replace(key, targets);
      }
      const targets = index.changed();
      if (targets.length === 0) return NOTHING;
      const ports = new Set(targets.map(({ protocol, port }) => portKey(protocol, port)));
      const stale = new Map<number, Flow>();
      let looked = 0;
      for (const filter of planDumps(targets)) {
        await table.list(
          filter,
          (protocol, port) => ports.has(portKey(protocol, port)),
          (flow) => {
            looked += 1;
            if (isStale(flow, index)) stale.set(flow.id, flow);
          },
        );
      }
      const removed = stale.size === 0 ? 0 : await table.remove([...stale.values()]);
      index.forget();
      return { looked, removed };
    },
    close: () => table.close(),
  };
}
