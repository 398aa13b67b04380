import { randomBytes } from "node:crypto";
import { onTestFinished } from "vitest";
import { DEFAULT_ADDRESS_PLAN } from "../brain/allocation/address-plan.ts";
import { Announcements } from "../brain/announcements/announcements.ts";
import { createApiServer } from "../brain/api-server.ts";
import { Authority, createAuthority } from "../brain/identity/authority.ts";
import { LocalPulse } from "../brain/manager/local-pulse.ts";
import { Manager } from "../brain/manager/manager.ts";
import { createManagerGate } from "../brain/manager/manager-gate.ts";
import { MemoryLedger } from "../brain/manager/memory-ledger.fixture.ts";
import { ServerIdentity } from "../brain/manager/server-identity.ts";
import type { ListenAddress } from "../core/options/listen-address.ts";
import { GlobalStore } from "../core/store/global-store.ts";

const HOUR_MS = 3_600_000;
const silent = (): void => undefined;

/** What was warned of. */
export class HeardLog {
  readonly warnings: string[] = [];
  readonly debug: () => void = silent;
  readonly info: () => void = silent;
  readonly error: () => void = silent;
  readonly warn = (_: object, message: string): void => {
    this.warnings.push(message);
  };
}

export interface RunningManager {
  readonly address: ListenAddress;
  readonly store: GlobalStore;
  readonly log: HeardLog;
  /** A token for the identity of a service. */
  tokenFor(service: string): Promise<string>;
  close(): Promise<void>;
}

/** A manager on a port of loopback, which forgets everything with its end. */
export async function startRunningManager(
  certificateMs: number = HOUR_MS,
): Promise<RunningManager> {
  const nowMs = (): number => Date.now();
  const log = new HeardLog();
  const store = new GlobalStore();
  const authority = await Authority.open(await createAuthority("portolan", nowMs()));
  const pulse = new LocalPulse({ timeoutMs: 5000, nodes: [], nowMs: () => performance.now() });
  const manager = new Manager({
    store,
    ledger: new MemoryLedger(),
    pulse,
    authority,
    plan: DEFAULT_ADDRESS_PLAN,
    timeoutMs: 5000,
    certificateMs: HOUR_MS,
    serviceCertificateMs: certificateMs,
    managers: () => [],
    nowMs,
    randomBytes,
    log,
  });
  const hosts = ["127.0.0.1"];
  const tls = await ServerIdentity.create({ authority, hosts, lifetimeMs: HOUR_MS, nowMs, log });
  const announcements = new Announcements({ store, log, nowMs, before: [] });
  const gate = createManagerGate(manager, nowMs, announcements);
  const listen = { kind: "tcp", host: "127.0.0.1", port: 0 } as const;
  const server = await createApiServer(store, { listen, tls, gate, log });
  let isClosed = false;
  const close = async (): Promise<void> => {
    if (isClosed) return;
    isClosed = true;
    await server.close();
    await announcements.close();
    tls.close();
    manager.close();
    pulse.close();
  };
  onTestFinished(close);
  return {
    address: server.address,
    store,
    log,
    tokenFor: async (service) => {
      const request = { lifetimeMs: HOUR_MS, uses: -1, note: "", service };
      return (await manager.tokens.create(request)).token;
    },
    close,
  };
}
