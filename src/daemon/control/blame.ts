import type { UnservedListener } from "../../backends/backend.ts";
import type { DesiredChange } from "../../control/world.ts";
import { CoreError, messageOf } from "../../core/errors.ts";
import { type Kind, keyOf } from "../../core/model/object.ts";
import type { GlobalStore } from "../../core/store/global-store.ts";

/** What data planes could not do at some moment. */
export interface Troubles {
  /** Listeners that do not listen: of the model, or such that the addresses of services make. */
  readonly listeners: readonly UnservedListener[];
  /** What else failed, by data plane. */
  readonly others: ReadonlyMap<string, unknown>;
}

/** @param failures by data plane; @param unserved what data planes do not serve although they did not fail */
export function troublesOf(
  failures: ReadonlyMap<string, unknown>,
  unserved: readonly UnservedListener[],
): Troubles {
  const listeners = [...unserved];
  const others = new Map<string, unknown>();
  for (const [name, error] of failures) {
    const named = namedIn(error);
    if (named.length === 0) others.set(name, error);
    else listeners.push(...named);
  }
  return { listeners, others };
}

/** The listeners that an engine names where it could not listen. */
function namedIn(error: unknown): readonly UnservedListener[] {
  if (!(error instanceof CoreError) || error.code !== "ERR_LISTEN") return [];
  return error.problems.flatMap(({ path, value }) => {
    const [list, listener] = path;
    return list === "listeners" && typeof listener === "string" && listener !== ""
      ? [{ listener, reason: value }]
      : [];
  });
}

/**
 * The error that a change is refused with; undefined where it is to blame for nothing. What was wrong
 * before is not its fault, nor is what concerns others.
 */
export function blameFor(
  change: DesiredChange,
  store: GlobalStore,
  before: Troubles,
  after: Troubles,
): CoreError | undefined {
  const known = new Set(before.listeners.map(idOf));
  const concerns = concernOf(change, store);
  const fresh = after.listeners.filter(
    (one) => concerns(one.listener) && !known.has(idOf(one)) && !leadsNowhere(one, store),
  );
  if (fresh.length > 0) {
    const lines = fresh.map(({ listener, reason }) =>
      reason.startsWith("listener ") ? reason : `listener ${listener}: ${reason}`,
    );
    return new CoreError("ERR_LISTEN", [...new Set(lines)].join("\n"));
  }
  for (const [name, error] of after.others) {
    if (before.others.has(name)) continue;
    const why = messageOf(error);
    const code = error instanceof CoreError ? error.code : "ERR_SYNC_FAILED";
    return new CoreError(code, `${name}: ${why}`, { cause: error });
  }
  return undefined;
}

function idOf({ listener, reason }: UnservedListener): string {
  return `${listener}\0${reason}`;
}

/** A reference to a certificate that is not there is none of the data plane's troubles: it may come later. */
function leadsNowhere({ listener }: UnservedListener, store: GlobalStore): boolean {
  const { tls } = store.get("Listener", listener) ?? {};
  return tls?.certificates.some((key) => store.get("Certificate", key) === undefined) ?? false;
}

/** Whether a listener is of what is set, or uses it. Who takes something away knows that it will be missing. */
function concernOf(change: DesiredChange, store: GlobalStore): (listener: string) => boolean {
  const keysOf = (kind: Kind): readonly string[] =>
    change.set.filter((object) => object.kind === kind).map(keyOf);
  const listeners = new Set([
    ...keysOf("Listener"),
    ...usersOf(new Set(keysOf("Certificate")), store),
  ]);
  const services = keysOf("Service");
  // Those that addresses of services make are called by them: `external-ip default/web:80/TCP 10.0.0.1`.
  return (listener) =>
    listeners.has(listener) || services.some((service) => listener.includes(` ${service}:`));
}

function usersOf(certificates: ReadonlySet<string>, store: GlobalStore): readonly string[] {
  if (certificates.size === 0) return [];
  return [...store.state().listeners].flatMap(([key, { tls }]) =>
    tls?.certificates.some((name) => certificates.has(name)) ? [key] : [],
  );
}
