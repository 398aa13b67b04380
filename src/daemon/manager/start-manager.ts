import { randomBytes } from "node:crypto";
import { hostname, networkInterfaces } from "node:os";
import { join } from "node:path";
import type { AnnouncementBook } from "../../brain/announcements/announcement-book.ts";
import { EtcdAnnouncements } from "../../brain/announcements/etcd-announcements.ts";
import { createApiServer } from "../../brain/api-server.ts";
import { EtcdLedger } from "../../brain/manager/etcd-ledger.ts";
import { EtcdPulse } from "../../brain/manager/etcd-pulse.ts";
import { EtcdRoster } from "../../brain/manager/etcd-roster.ts";
import type { Ledger, Pulse } from "../../brain/manager/ledger.ts";
import { LocalPulse } from "../../brain/manager/local-pulse.ts";
import { Manager } from "../../brain/manager/manager.ts";
import { createManagerGate } from "../../brain/manager/manager-gate.ts";
import { openAuthority } from "../../brain/manager/open-authority.ts";
import { ServerIdentity } from "../../brain/manager/server-identity.ts";
import type { Log } from "../../core/log.ts";
import { isHostName } from "../../core/model/address.ts";
import { formatListenAddress, type ListenAddress } from "../../core/options/listen-address.ts";
import type { GlobalStore } from "../../core/store/global-store.ts";
import { EtcdClient } from "../../engines/etcd/etcd-client.ts";
import { primaryAddress } from "../../platform/linux/primary-address.ts";
import { Closers } from "../closers.ts";
import type { InstanceConfig } from "../config.ts";
import type { EtcdAccess } from "../etcd-access.ts";
import type { ApiAttachment } from "../instance-deps.ts";
import { openAnnouncements } from "../mesh/open-announcements.ts";
import { WORLD } from "../world.ts";
import { FileLedger } from "./file-ledger.ts";
import type { ManagerConfig } from "./manager-config.ts";
import { reachedAt } from "./reached-at.ts";
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
    const place = { store, log, stateFolder };
    const { ledger, pulse, roster, book } = await openLedger(config, closers, place);
    const { trustDomain, timeoutMs, certificateMs, serviceCertificateMs, plan } = settings;
    const authority = await openAuthority(ledger, trustDomain, nowMs());
    const said = settings.address === undefined ? [] : [formatListenAddress(settings.address)];
    const managers = (): readonly string[] => roster?.managers ?? said;
    const times = { timeoutMs, certificateMs, serviceCertificateMs };
    const options = { ...times, plan, managers, nowMs, randomBytes, log };
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
    const announcements = book ?? (await openAnnouncements(store, log, stateFolder)).announcements;
    closers.add("announcements", () => announcements.close());
    const gate = createManagerGate(manager, nowMs, announcements);
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
    const address = reachedAt(settings, server.address, () => primaryAddress(() => false));
    if (address !== undefined) void roster?.enter(address);
    return {
      address: server.address,
      watchers: () => server.stats().watchers + local.stats().watchers,
      metrics: () => [...manager.metrics(), ...announcements.metrics()],
      close: () => closers.closeAll(),
    };
  } catch (error) {
    await closers.closeAll();
    throw error;
  }
}

interface Kept {
  readonly ledger: Ledger;
  readonly pulse: Pulse;
  /** Missing where there is no other manager. */
  readonly roster?: EtcdRoster;
  /** Missing where announcements are kept in the state folder. */
  readonly book?: AnnouncementBook;
}

interface Place {
  readonly store: GlobalStore;
  readonly log: Log;
  readonly stateFolder: string;
}

async function openLedger(
  config: InstanceConfig & { readonly manager: ManagerConfig },
  closers: Closers,
  { store, log, stateFolder }: Place,
): Promise<Kept> {
  const { etcd: members, timeoutMs } = config.manager;
  const kept =
    members === undefined || config.etcd === undefined
      ? await openInFolder(join(stateFolder, FOLDER), timeoutMs, log)
      : await openInEtcd({ members, access: config.etcd, timeoutMs }, closers, { store, log });
  closers.add("ledger", () => kept.ledger.close());
  closers.add("liveness", async () => kept.pulse.close());
  return kept;
}

async function openInFolder(folder: string, timeoutMs: number, log: Log): Promise<Kept> {
  const ledger = await FileLedger.open(folder, log, () => Date.now());
  const nodes = [...ledger.objects()].flatMap((object) =>
    object.kind === "Node" ? [object.name] : [],
  );
  return { ledger, pulse: new LocalPulse({ timeoutMs, nodes, nowMs: () => performance.now() }) };
}

async function openInEtcd(
  {
    members,
    access,
    timeoutMs,
  }: {
    readonly members: readonly ListenAddress[];
    readonly access: EtcdAccess;
    readonly timeoutMs: number;
  },
  closers: Closers,
  { store, log }: Pick<Place, "store" | "log">,
): Promise<Kept> {
  const { tls, credentials } = access;
  const client = new EtcdClient({ members, tls, credentials, ...WORLD });
  closers.add("etcd", async () => client.close());
  const prefix = access.prefix.endsWith("/") ? access.prefix : `${access.prefix}/`;
  const [ledger, pulse, book] = await Promise.all([
    EtcdLedger.open(client, prefix, log),
    EtcdPulse.open(client, prefix, timeoutMs),
    EtcdAnnouncements.open(client, prefix, { store, log }),
  ]);
  const roster = new EtcdRoster(client, prefix);
  closers.add("roster", () => roster.close());
  return { ledger, pulse, roster, book };
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
