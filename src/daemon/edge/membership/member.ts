import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import * as z from "zod";
import {
  membershipFiles,
  renewCertificate,
} from "../../../brain/manager/client/node-membership.ts";
import type { NodeRoundTrips } from "../../../brain/manager/messages.ts";
import { CoreError, messageOf } from "../../../core/errors.ts";
import type { Log } from "../../../core/log.ts";
import { formatHostPort } from "../../../core/model/address.ts";
import { NewestKeeper } from "../../../core/newest-keeper.ts";
import { formatListenAddress } from "../../../core/options/listen-address.ts";
import { machineFamilies } from "../../../edge/environment/machine-families.ts";
import type { NodeRow, TableRow } from "../../../edge/environment/route-table.ts";
import type { ServiceIp } from "../../../edge/environment/workload.ts";
import type { Directory, RemoteView } from "../../../edge/overlay/directory.ts";
import { namesOf } from "../../../edge/overlay/merge-services.ts";
import { nameOfKey, serviceKey } from "../../../edge/overlay/service-key.ts";
import { type ApiNodeWatcher, watchNode } from "../../../sources/api/watch-node.ts";
import { WORLD } from "../../world.ts";
import { type AnnouncementEvents, Announcements } from "./announcements.ts";
import { type KeptView, keepView } from "./kept-view.ts";
import { ManagerLink } from "./manager-link.ts";
import type { ManagerRing } from "./manager-ring.ts";
import { RemoteState } from "./remote-state.ts";
import { askRoundTrips, RoundTripReports } from "./round-trip-reports.ts";
import { ToldList } from "./told-list.ts";

export interface MemberOptions {
  readonly node: string;
  readonly ring: ManagerRing;
  /** The managers have told of others. */
  readonly onManagers: () => void;
  /** Where the certificate, its key and the view are. */
  readonly folder: string;
  readonly kept: KeptView | undefined;
  readonly renewEveryMs: number;
  /** Where other nodes reach this one. */
  readonly place: () => { readonly ip: string | undefined; readonly port: number };
  /** Base64, of the tunnel. */
  readonly publicKey: string;
  /** The other nodes, and how far they are. */
  readonly nodes: () => Promise<readonly NodeRow[]>;
  /** The manager refuses an instance that runs here, or takes it after all. */
  readonly onRefused: NonNullable<AnnouncementEvents["onRefused"]>;
  readonly onAccepted: NonNullable<AnnouncementEvents["onAccepted"]>;
  /** All that is known of others, whenever it changes. */
  readonly onView: (view: RemoteView) => void;
  readonly log: Log;
}

const WATCHING = { backoff: { firstMs: 250, maxMs: 4000 }, connectTimeoutMs: 3000 } as const;
/** More services are not followed because they were called; the longest known makes room. */
const MAX_FOLLOWED = 4096;
const KEEP_PAUSE_MS = 200;
const LEFT_OUT = "nodes are not reached, as what is said of them can not be";
const NOT_SERVED = "listeners let nobody in on this node, as they can not be served as they are";
const SETS = ["nodes", "listeners", "security-groups"] as const;

const renewedSchema = z.object({ managers: z.array(z.string()).default([]) });
const foundSchema = z.object({
  services: z.array(z.object({ service: z.string(), instances: z.array(z.unknown()) })),
});

/** A node as its manager sees it: it renews, says what runs here, and follows what is of interest. */
export class Member implements Directory {
  readonly #options: MemberOptions;
  readonly #link: ManagerLink;
  readonly #announcements: Announcements;
  readonly #remote: RemoteState;
  readonly #roundTrips: RoundTripReports;
  readonly #watcher: ApiNodeWatcher;
  readonly #followed: Set<string>;
  readonly #keeper: NewestKeeper;
  readonly #leftOut: ToldList;
  readonly #notServed: ToldList;
  readonly #end = new AbortController();
  #own: ReadonlySet<string> = new Set();
  #view: RemoteView | undefined;
  #isLost = false;
  /** Whether the manager was told all that runs here, since this process began or the manager was lost. */
  #isReconciled = false;
  #hurry: () => void = () => undefined;
  #running: Promise<unknown> = Promise.resolve();

  constructor(options: MemberOptions) {
    const { node, ring, folder, kept, log } = options;
    this.#options = options;
    this.#keeper = new NewestKeeper({
      write: () => this.#keep(),
      pause: (signal) => WORLD.sleep(KEEP_PAUSE_MS, signal),
    });
    this.#link = new ManagerLink(ring, folder);
    this.#announcements = new Announcements(this.#link, kept?.announced ?? [], {
      log,
      onTold: () => this.#keeper.changed(),
      onRefused: options.onRefused,
      onAccepted: options.onAccepted,
    });
    this.#remote = new RemoteState(node, machineFamilies());
    this.#leftOut = new ToldList(log, "leftOut", LEFT_OUT);
    this.#notServed = new ToldList(log, "notServed", NOT_SERVED);
    this.#roundTrips = new RoundTripReports(options.nodes, () => performance.now());
    this.#followed = new Set(kept?.interest);
    this.#view = kept?.view;
    const api = {
      get address() {
        return ring.current;
      },
      tls: membershipFiles(folder),
      ...WATCHING,
      ...WORLD,
    };
    const request = { nodeName: node, sets: SETS, interest: [...this.#followed] };
    this.#watcher = watchNode(api, request, {
      ok: () => undefined,
      failed: (error) => {
        log.debug({ err: error }, "the manager is not followed now");
        this.#hurry();
      },
    });
  }

  start(): void {
    if (this.#view !== undefined) this.#options.onView(this.#view);
    this.#running = Promise.all([this.#follow(), this.#renew()]);
  }

  async close(): Promise<void> {
    this.#end.abort();
    this.#watcher.close();
    this.#link.drop();
    await this.#running;
    await this.#keeper.close();
  }

  announce(row: TableRow): Promise<readonly ServiceIp[]> {
    return this.#announcements.announce(row);
  }

  withdraw(row: Pick<TableRow, "appName" | "instanceNumber">): Promise<void> {
    return this.#announcements.withdraw(row);
  }

  setLocal(rows: readonly TableRow[]): void {
    this.#own = new Set(rows.map(({ appName }) => serviceKey(appName)));
    this.#tellInterest();
    this.#announcements.setLocal(rows);
  }

  follow(services: readonly string[]): void {
    this.#followKeys(services.map(serviceKey));
  }

  async followAddress(query: string): Promise<boolean> {
    const { services } = foundSchema.parse(await this.#link.call("Table", { query }));
    this.#followKeys(services.map(({ service }) => service));
    return services.length > 0;
  }

  async followNames(names: readonly string[]): Promise<readonly string[]> {
    // Who asks for a name would wait in vain.
    if (this.#isLost) return [];
    const answers = await Promise.all(names.map((query) => this.#link.call("Table", { query })));
    const keys = answers.flatMap((answer) =>
      foundSchema
        .parse(answer)
        .services.filter(
          ({ service, instances }) => instances.length > 0 && isCalled(service, names),
        )
        .map(({ service }) => service),
    );
    if (keys.length > 0) this.#followKeys(keys);
    return keys.map(nameOfKey);
  }

  /** Of all nodes, as far as managers were told. */
  roundTrips(): Promise<readonly NodeRoundTrips[]> {
    const { ring, folder } = this.#options;
    return this.#isLost ? Promise.resolve([]) : askRoundTrips(ring.all, folder);
  }

  #followKeys(keys: readonly string[]): void {
    for (const key of keys) {
      this.#followed.delete(key);
      this.#followed.add(key);
    }
    for (const key of this.#followed) {
      if (this.#followed.size <= MAX_FOLLOWED) break;
      this.#followed.delete(key);
    }
    this.#tellInterest();
    this.#keeper.changed();
  }

  #tellInterest(): void {
    this.#watcher.setInterest([...new Set([...this.#own, ...this.#followed])]);
  }

  async #follow(): Promise<void> {
    const { signal } = this.#end;
    while (!signal.aborted) {
      try {
        this.#remote.apply(await this.#watcher.next(signal));
        const published = this.#remote.published().filter((key) => !this.#followed.has(key));
        if (published.length > 0) this.#followKeys(published);
        this.#view = this.#remote.view();
        this.#leftOut.tell(this.#remote.leftOut);
        this.#notServed.tell(this.#remote.notServed);
        this.#options.onView(this.#view);
        this.#keeper.changed();
      } catch (error) {
        if (!signal.aborted) this.#options.log.error({ err: error }, "a change was not understood");
      }
    }
  }

  async #renew(): Promise<void> {
    const { renewEveryMs } = this.#options;
    const { signal } = this.#end;
    while (!signal.aborted) {
      await this.#renewOnce();
      await this.#pause(renewEveryMs, signal);
    }
  }

  /** Ends early where following broke off: perhaps another manager has to be found. */
  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    const early = new AbortController();
    this.#hurry = () => early.abort();
    await WORLD.sleep(ms, AbortSignal.any([signal, early.signal])).catch(() => undefined);
  }

  async #renewOnce(): Promise<void> {
    const { log, place, publicKey, ring, onManagers } = this.#options;
    const asked = ring.current;
    const { ip, port } = place();
    const at = ip === undefined ? {} : { addresses: [ip], tunnel: tunnelOf(ip, port, publicKey) };
    try {
      const news = { ...at, ...(await this.#roundTrips.next()) };
      const { managers } = renewedSchema.parse(await this.#link.call("Renew", news));
      if (ring.current !== asked) {
        this.#roundTrips.repeat();
        const manager = formatListenAddress(ring.current);
        log.info({ manager }, "another manager is asked from now on");
      }
      // Who renews this node knows the edge; the one that is followed may have lost touch with it.
      this.#watcher.moveOn();
      if (ring.learn(managers)) onManagers();
      if (this.#isLost) {
        this.#isLost = false;
        this.#announcements.doubt();
        this.#isReconciled = false;
        this.#roundTrips.repeat();
        log.info({}, "the manager answers again");
      }
      if (!this.#isReconciled) await this.#announcements.reconcile();
      this.#isReconciled = true;
      await this.#announcements.sync();
      await this.#renewCertificate();
    } catch (error) {
      if (this.#isLost || this.#end.signal.aborted) return;
      this.#isLost = true;
      log.warn({ err: error }, `${remedyOf(error)}; this node goes on with what it knows`);
    }
  }

  /** At half of its time: there is as long again to try. */
  async #renewCertificate(): Promise<void> {
    const { ring, folder, log } = this.#options;
    const { certFile } = membershipFiles(folder);
    const { validFrom, validTo } = new X509Certificate(await readFile(certFile));
    const half = (Date.parse(validFrom) + Date.parse(validTo)) / 2;
    if (Date.now() < half) return;
    await renewCertificate(ring.current, folder);
    this.#link.drop();
    log.info({}, "the certificate of this node was renewed");
  }

  async #keep(): Promise<void> {
    const view = this.#view;
    if (view === undefined) return;
    const { announced } = this.#announcements;
    const { folder, log } = this.#options;
    try {
      await keepView(folder, { announced, interest: [...this.#followed], view });
    } catch (err) {
      log.warn({ err }, "what is known of others could not be kept");
    }
  }
}

/** Others may have the same name in another namespace. */
function isCalled(key: string, names: readonly string[]): boolean {
  return namesOf(key).some((name) => names.includes(name.toLowerCase()));
}

export function tunnelOf(
  ip: string,
  port: number,
  publicKey: string,
): { readonly address: string; readonly publicKey: string } {
  return { address: formatHostPort(ip, port), publicKey };
}

function remedyOf(error: unknown): string {
  const isOut =
    error instanceof CoreError && ["ERR_UNAUTHORIZED", "ERR_NOT_FOUND"].includes(error.code);
  const said = `the manager does not renew this node: ${messageOf(error)}`;
  return isOut ? `${said}; join again with a new token: portolan edge join` : said;
}
