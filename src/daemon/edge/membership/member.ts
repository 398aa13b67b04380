import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import * as z from "zod";
import {
  membershipFiles,
  renewCertificate,
} from "../../../brain/manager/client/node-membership.ts";
import { CoreError, messageOf } from "../../../core/errors.ts";
import type { Log } from "../../../core/log.ts";
import { formatHostPort } from "../../../core/model/address.ts";
import type { ListenAddress } from "../../../core/options/listen-address.ts";
import type { TableRow } from "../../../edge/environment/route-table.ts";
import type { ServiceIp } from "../../../edge/environment/workload.ts";
import type { Directory, RemoteView } from "../../../edge/overlay/directory.ts";
import { serviceKey } from "../../../edge/overlay/service-key.ts";
import { type ApiNodeWatcher, watchNode } from "../../../sources/api/watch-node.ts";
import { WORLD } from "../../world.ts";
import { Announcements } from "./announcements.ts";
import { type KeptView, keepView } from "./kept-view.ts";
import { ManagerLink } from "./manager-link.ts";
import { RemoteState } from "./remote-state.ts";

export interface MemberOptions {
  readonly node: string;
  readonly manager: ListenAddress;
  /** Where the certificate, its key and the view are. */
  readonly folder: string;
  readonly kept: KeptView | undefined;
  readonly renewEveryMs: number;
  /** Where other nodes reach this one. */
  readonly place: () => { readonly ip: string | undefined; readonly port: number };
  /** Base64, of the tunnel. */
  readonly publicKey: string;
  /** All that is known of others, whenever it changes. */
  readonly onView: (view: RemoteView) => void;
  readonly log: Log;
}

const BACKOFF = { firstMs: 250, maxMs: 4000 } as const;
/** More services are not followed because they were called; the longest known makes room. */
const MAX_FOLLOWED = 4096;
const KEEP_AFTER_MS = 200;

const foundSchema = z.object({ services: z.array(z.object({ service: z.string() })) });

/** A node as its manager sees it: it renews, says what runs here, and follows what is of interest. */
export class Member implements Directory {
  readonly #options: MemberOptions;
  readonly #link: ManagerLink;
  readonly #announcements: Announcements;
  readonly #remote: RemoteState;
  readonly #watcher: ApiNodeWatcher;
  readonly #followed: Set<string>;
  readonly #end = new AbortController();
  #own: ReadonlySet<string> = new Set();
  #view: RemoteView | undefined;
  #isLost = false;
  #running: Promise<unknown> = Promise.resolve();
  #keepTimer: NodeJS.Timeout | undefined;
  #keeping: Promise<void> = Promise.resolve();

  constructor(options: MemberOptions) {
    const { node, manager, folder, kept, log } = options;
    this.#options = options;
    this.#link = new ManagerLink(manager, folder);
    this.#announcements = new Announcements(this.#link, kept?.announced ?? [], {
      log,
      onTold: () => this.#keepSoon(),
    });
    this.#remote = new RemoteState(node);
    this.#followed = new Set(kept?.interest);
    this.#view = kept?.view;
    const api = { address: manager, tls: membershipFiles(folder), backoff: BACKOFF, ...WORLD };
    const request = { nodeName: node, sets: ["nodes"] as const, interest: [...this.#followed] };
    this.#watcher = watchNode(api, request, {
      ok: () => undefined,
      failed: (error) => log.debug({ err: error }, "the manager is not followed now"),
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
    clearTimeout(this.#keepTimer);
    this.#keep();
    await this.#keeping;
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
    this.#keepSoon();
  }

  #tellInterest(): void {
    this.#watcher.setInterest([...new Set([...this.#own, ...this.#followed])]);
  }

  async #follow(): Promise<void> {
    const { signal } = this.#end;
    while (!signal.aborted) {
      try {
        this.#remote.apply(await this.#watcher.next(signal));
        this.#view = this.#remote.view();
        this.#options.onView(this.#view);
        this.#keepSoon();
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
      await WORLD.sleep(renewEveryMs, signal).catch(() => undefined);
    }
  }

  async #renewOnce(): Promise<void> {
    const { log, place, publicKey } = this.#options;
    const { ip, port } = place();
    const news = ip === undefined ? {} : { addresses: [ip], tunnel: tunnelOf(ip, port, publicKey) };
    try {
      await this.#link.call("Renew", news);
      if (this.#isLost) {
        this.#isLost = false;
        this.#announcements.doubt();
        log.info({}, "the manager answers again");
      }
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
    const { manager, folder, log } = this.#options;
    const { certFile } = membershipFiles(folder);
    const { validFrom, validTo } = new X509Certificate(await readFile(certFile));
    const half = (Date.parse(validFrom) + Date.parse(validTo)) / 2;
    if (Date.now() < half) return;
    await renewCertificate(manager, folder);
    this.#link.drop();
    log.info({}, "the certificate of this node was renewed");
  }

  #keepSoon(): void {
    this.#keepTimer ??= setTimeout(() => {
      this.#keepTimer = undefined;
      this.#keep();
    }, KEEP_AFTER_MS);
  }

  #keep(): void {
    const view = this.#view;
    if (view === undefined) return;
    const { announced } = this.#announcements;
    const kept = { announced, interest: [...this.#followed], view };
    const { folder, log } = this.#options;
    this.#keeping = this.#keeping
      .then(() => keepView(folder, kept))
      .catch((err: unknown) => log.warn({ err }, "what is known of others could not be kept"));
  }
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
