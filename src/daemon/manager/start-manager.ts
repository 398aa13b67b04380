import { randomBytes } from "node:crypto";
import { hostname, networkInterfaces } from "node:os";
import { join } from "node:path";
import { createApiServer } from "../../brain/api-server.ts";
import type { Ledger, Pulse } from "../../brain/manager/ledger.ts";
import { LocalPulse } from "../../brain/manager/local-pulse.ts";
import { Manager } from "../../brain/manager/manager.ts";
import { createManagerGate } from "../../brain/manager/manager-gate.ts";
import { openAuthority } from "../../brain/manager/open-authority.ts";
import { ServerIdentity } from "../../brain/manager/server-identity.ts";
import type { Log } from "../../core/log.ts";
import { isHostName } from "../../core/model/address.ts";
import type { GlobalStore } from "../../core/store/global-store.ts";
import { Closers } from "../closers.ts";
import type { InstanceConfig } from "../config.ts";
import type { ApiAttachment } from "../instance-deps.ts";
import { FileLedger } from "./file-ledger.ts";
import type { ManagerConfig } from "./manager-config.ts";
import { MANAGER_SOCKET } from "./socket-name.ts";

/** The folder in the state folder that a manager has for itself. */
const FOLDER = "manager";

/** The API server of a manager: watches for nodes, what they ask besides, and a socket for who looks after it. */
export async function startManager(
  store: GlobalStore,
  config: InstanceConfig & { readonly manager: ManagerConfig },
  { log, stateFolder }: { readonly log: Log; readonly stateFolder: string },
): Promise<ApiAttachment> {
  const { manager: settings, values } = config;
  const closers = new Closers(log);
  const nowMs = (): number => Date.now();
  try {
    const { ledger, pulse } = await openLedger(settings, stateFolder, log);
    closers.add("ledger", () => ledger.close());
    closers.add("liveness", async () => pulse.close());
    const { trustDomain, timeoutMs, certificateMs, plan } = settings;
    const authority = await openAuthority(ledger, trustDomain, nowMs());
    const options = { timeoutMs, certificateMs, plan, nowMs, randomBytes, log };
    const manager = new Manager({ store, ledger, pulse, authority, ...options });
    closers.add("manager", async () => manager.close());
    const hosts = hostsOf(settings.names);
    const identity = await ServerIdentity.create({
      authority,
      hosts,
      lifetimeMs: certificateMs,
      nowMs,
      log,
    });
    closers.add("certificate", async () => identity.close());
    const gate = createManagerGate(manager, nowMs);
    const shared = { gate, log, maxMessageBytes: values.apiMaxMessageBytes };
    const socket = { kind: "unix", path: join(stateFolder, MANAGER_SOCKET) } as const;
    const local = await createApiServer(store, { ...shared, listen: socket });
    closers.add("socket of the manager", () => local.close());
    const server = await createApiServer(store, {
      ...shared,
      listen: values.apiListen,
      tls: values.apiListen.kind === "unix" ? undefined : identity,
    });
    closers.add("API server", () => server.close());
    return {
      address: server.address,
      watchers: () => server.stats().watchers + local.stats().watchers,
      close: () => closers.closeAll(),
    };
  } catch (error) {
    await closers.closeAll();
    throw error;
  }
}

async function openLedger(
  { timeoutMs }: ManagerConfig,
  stateFolder: string,
  log: Log,
): Promise<{ readonly ledger: Ledger; readonly pulse: Pulse }> {
  const ledger = await FileLedger.open(join(stateFolder, FOLDER), log, () => Date.now());
  const nodes = [...ledger.objects()].flatMap((object) =>
    object.kind === "Node" ? [object.name] : [],
  );
  const pulse = new LocalPulse({ timeoutMs, nodes, nowMs: () => performance.now() });
  return { ledger, pulse };
}

/** All that this machine is called, without addresses that need a scope. */
function hostsOf(names: readonly string[]): readonly string[] {
  const own = Object.values(networkInterfaces()).flatMap((addresses) =>
    (addresses ?? []).flatMap(({ address, scopeid }) => (scopeid ? [] : [address])),
  );
  const host = hostname();
  return [
    ...new Set([
      ...names,
      ...(isHostName(host) ? [host] : []),
      "localhost",
      "127.0.0.1",
      "::1",
      ...own,
    ]),
  ];
}
