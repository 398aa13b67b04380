import { networkInterfaces } from "node:os";
import type { DelegateEntry, DelegatesPort } from "../../control/world.ts";
import { messageOf } from "../../core/errors.ts";
import type { Reporter } from "../../core/status/status-board.ts";
import type { GlobalStore } from "../../core/store/global-store.ts";
import { checkPort } from "../../mesh/check-port.ts";
import { Delegates } from "../../mesh/delegates.ts";
import { identityCertificate } from "../../mesh/identity-files.ts";
import { MESH_OWNER } from "../../mesh/mesh-owner.ts";
import type { InstanceConfig } from "../config.ts";
import type { InstanceDeps } from "../instance-deps.ts";
import type { Metrics } from "../metrics.ts";
import { openAnnouncer } from "./open-announcer.ts";

export interface DelegatesParts {
  readonly deps: InstanceDeps;
  /** Puts the mesh on the board, when there is something to tell. */
  readonly report: () => Reporter;
  readonly metrics: Pick<Metrics, "watchPart">;
}

export interface InstanceDelegates extends DelegatesPort {
  /** One that is kept from an earlier run. */
  restore(entry: DelegateEntry): void;
  /** Another process announces what these do. */
  leave(): Promise<void>;
  closeAll(): Promise<void>;
}

/** The delegates of this instance, which announce where its sources are. */
export function createDelegates(
  store: GlobalStore,
  config: InstanceConfig,
  { deps, report, metrics }: DelegatesParts,
): InstanceDelegates {
  if (config.identity !== undefined) {
    const certificate = identityCertificate(config.identity.files);
    store.transact(MESH_OWNER, (transaction) => transaction.set(certificate));
  }
  let reporter: Reporter | undefined;
  const onChange = (): void => {
    reporter ??= report();
    tell(reporter, delegates.list());
  };
  const delegates = new Delegates<DelegateEntry>({
    store,
    node: config.node,
    addressOf,
    check: checkPort,
    sleep: deps.sleep,
    onChange,
    openAnnouncer: () => openAnnouncer(store, config, deps),
  });
  metrics.watchPart("server", "mesh", () => delegates.metrics());
  return {
    list: () => delegates.list(),
    add: (entry) => delegates.add(entry),
    remove: (kind, name) => delegates.remove(kind, name),
    leave: () => delegates.leave(),
    closeAll: () => delegates.closeAll(),
    restore: (entry) => {
      delegates.add(entry).catch((error: unknown) => {
        const { kind, name } = entry;
        deps.log.warn({ kind, name }, `could not be made again: ${messageOf(error)}`);
      });
    },
  };
}

/** That it can not be told to others is a failure; that a port does not answer is not. */
function tell(reporter: Reporter, states: ReturnType<Delegates<DelegateEntry>["list"]>): void {
  const following = states.filter(({ entry }) => entry.kind === "smart-group-delegate");
  const announced = states.filter(({ status }) => status === "announced");
  const nodes = states.length - following.length;
  const servers = following.reduce((sum, { servers: { length } }) => sum + length, 0);
  const failing = states.find(({ status }) => status === "announcing" || status === "waiting");
  const words = [
    ...(following.length > 0
      ? [`${following.length} groups follow services: ${servers} servers`]
      : []),
    ...(nodes > 0 ? [`${announced.length} of ${nodes} ports announced`] : []),
  ];
  const message = words.length === 0 ? "no delegates" : words.join("; ");
  if (failing !== undefined && failing.problem !== "") {
    reporter.degraded(`${failing.entry.kind} ${failing.entry.name}: ${failing.problem}`);
  } else reporter.ok(message);
}

function addressOf(nic: string, family: "v4" | "v6"): string | undefined {
  const wanted = family === "v4" ? "IPv4" : "IPv6";
  const known = networkInterfaces()[nic] ?? [];
  // One that needs a scope means nothing to others.
  return known.find((each) => each.family === wanted && !each.scopeid)?.address;
}
