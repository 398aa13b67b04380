import { readFile } from "node:fs/promises";
import { messageOf } from "../../../core/errors.ts";
import type { Log } from "../../../core/log.ts";
import { cidrContains, type Family, familyOf } from "../../../core/model/address.ts";
import { Turns } from "../../../core/turns.ts";
import type { EdgeNetwork, NodePlan } from "../../../edge/environment/edge-network.ts";
import type { EnvironmentManager } from "../../../edge/environment/environment-manager.ts";
import { machineFamilies } from "../../../edge/environment/machine-families.ts";
import { ClientBudget } from "../../../edge/names/client-budget.ts";
import { EdgeNames } from "../../../edge/names/edge-names.ts";
import { localNames } from "../../../edge/names/local-names.ts";
import { MdnsAnnouncer } from "../../../edge/names/mdns-announcer.ts";
import { MdnsResponder } from "../../../edge/names/mdns-responder.ts";
import { NameFinder } from "../../../edge/names/name-finder.ts";
import type { NameSource, NameTable } from "../../../edge/names/name-table.ts";
import { holdsAddresses } from "../../../edge/names/reverse-names.ts";
import type { IpSocketAddress } from "../../../platform/socket-address.ts";
import { parseResolvers } from "../../../proxy/dns/parse-resolvers.ts";
import { CounterRow, ROW_WORDS } from "../../../proxy/stats/counter-row.ts";
import { DnsServer } from "./dns-server.ts";
import { MdnsServer } from "./mdns-server.ts";

export interface NamesSettings {
  readonly dns: boolean;
  readonly mdns: boolean;
  /** Who is asked for other names; empty: the resolvers of this machine. */
  readonly forwardTo: readonly IpSocketAddress[];
}

export interface NameCounts {
  /** Of DNS, over UDP and TCP. */
  readonly questions: number;
  /** Those that were refused or that nobody had an answer to. */
  readonly failures: number;
  /** Answers to questions on the link. */
  readonly mdnsAnswers: number;
}

export interface ServedNames {
  counts(): NameCounts;
  close(): Promise<void>;
}

export interface NamesParts {
  readonly manager: Pick<EnvironmentManager, "plan" | "events">;
  readonly table: NameTable & NameSource;
  readonly network: Pick<EdgeNetwork, "watch">;
  readonly log: Log;
}

/** The bridge may come to be another one, and a port free that was taken. */
const PERIOD_MS = 10_000;
/** Changes of links come in crowds. */
const SETTLE_MS = 100;
const RESOLV_CONF = "/etc/resolv.conf";
const BUDGET = { perSecond: 1000, burst: 2000, maxClients: 4096 } as const;

/** Answers for names on the bridge as soon as there is one. What can not be opened now is tried again. */
export async function serveNames(settings: NamesSettings, parts: NamesParts): Promise<ServedNames> {
  const service = new NamesService(settings, parts);
  await service.look();
  const unlisten = parts.manager.events.listen(({ event }) => {
    if (event.type === "registered") void service.look();
  });
  const unfollow = parts.table.onNames(() => service.namesChanged());
  const period = setInterval(() => void service.look(), PERIOD_MS);
  let settling: NodeJS.Timeout | undefined;
  const watch = parts.network.watch(() => {
    settling ??= setTimeout(() => {
      settling = undefined;
      void service.look();
    }, SETTLE_MS);
  });
  return {
    counts: () => service.counts(),
    close: async () => {
      unlisten();
      unfollow();
      clearInterval(period);
      watch.close();
      clearTimeout(settling);
      await service.close();
    },
  };
}

class NamesService {
  readonly #settings: NamesSettings;
  readonly #parts: NamesParts;
  readonly #turns = new Turns();
  readonly #names: EdgeNames;
  readonly #finder: NameFinder;
  readonly #budget = new ClientBudget(BUDGET);
  readonly #row = new CounterRow(new Float64Array(ROW_WORDS), 0);
  readonly #families: readonly Family[] = machineFamilies();
  #mdnsAnswers = 0;
  #resolvers: readonly IpSocketAddress[] = [];
  #plan: NodePlan | undefined;
  #dns: DnsServer | undefined;
  #mdns: { readonly server: MdnsServer; readonly announcer: MdnsAnnouncer } | undefined;
  #announcing: NodeJS.Timeout | undefined;
  /** What could not be done, and was told. */
  #complaint = "";

  constructor(settings: NamesSettings, parts: NamesParts) {
    this.#settings = settings;
    this.#parts = parts;
    const { table, manager } = parts;
    this.#names = new EdgeNames(table, {
      has: holdsAddresses(() => manager.plan),
      nameOf: (ip) => table.nameOfAddress(ip),
    });
    this.#finder = new NameFinder({
      isKnown: (name) => table.serviceNamed(name) !== undefined,
      find: (names, signal) => table.findNamed(names, signal),
      nowMs: () => performance.now(),
    });
  }

  counts(): NameCounts {
    const { totalConnections: questions, failures } = this.#row.read();
    return { questions, failures, mdnsAnswers: this.#mdnsAnswers };
  }

  /** All on the link are told soon: changes come in crowds. */
  namesChanged(): void {
    if (this.#mdns !== undefined) this.#announceIn(SETTLE_MS);
  }

  #announceIn(ms: number): void {
    clearTimeout(this.#announcing);
    this.#announcing = setTimeout(() => this.#announce(), ms);
  }

  #announce(): void {
    if (this.#mdns === undefined) return;
    const { server, announcer } = this.#mdns;
    const nowMs = performance.now();
    server.tell(announcer.next(localNames(this.#parts.table.names(), this.#names), nowMs));
    const { dueMs } = announcer;
    if (dueMs !== undefined) this.#announceIn(Math.max(0, dueMs - nowMs));
  }

  /** Makes what is open match the node; never rejects. */
  look(): Promise<void> {
    return this.#turns.take(async () => {
      const { plan } = this.#parts.manager;
      if (plan === undefined) return;
      if (!isSame(plan, this.#plan)) this.#closeBoth();
      this.#plan = plan;
      try {
        await this.#open(plan);
        this.#complaint = "";
      } catch (error) {
        this.#complain(error);
      }
    });
  }

  async close(): Promise<void> {
    await this.#turns.over();
    this.#closeBoth();
  }

  async #open(plan: NodePlan): Promise<void> {
    const { dns, mdns } = this.#settings;
    if (dns) {
      this.#resolvers = await this.#findResolvers(plan);
      this.#dns ??= await this.#openDns(plan);
    }
    if (mdns) {
      if (this.#mdns?.server.hasLostLink()) this.#closeMdns();
      if (this.#mdns !== undefined) return;
      this.#mdns = { server: await this.#openMdns(plan), announcer: new MdnsAnnouncer() };
      this.#announce();
    }
  }

  #openDns(plan: NodePlan): Promise<DnsServer> {
    const ips = this.#families.map((family) => plan.addresses[family]);
    this.#parts.log.info({ addresses: ips }, "names are answered on port 53 of the bridge");
    return DnsServer.open(ips, {
      names: this.#names,
      finder: this.#finder,
      resolvers: () => this.#resolvers,
      allows: (client) => this.#allows(plan, client),
      row: this.#row,
      log: this.#parts.log,
    });
  }

  #openMdns(plan: NodePlan): Promise<MdnsServer> {
    return MdnsServer.open(plan, this.#families, {
      responder: new MdnsResponder(this.#names),
      finder: this.#finder,
      allows: (client) => this.#allows(plan, client),
      onAnswered: () => {
        this.#mdnsAnswers += 1;
      },
      onFailed: (error) => {
        this.#closeMdns();
        this.#complain(error);
      },
      nowMs: () => performance.now(),
    });
  }

  /** Workloads and the machine itself; for others it would be an open resolver. */
  #allows({ subnets, bridge }: NodePlan, client: string): boolean {
    const [ip = "", link] = client.split("%");
    const isNeighbour = link === bridge && ip.startsWith("fe80:");
    if (!isNeighbour && !cidrContains(subnets[familyOf(ip)], ip)) return false;
    return this.#budget.spend(ip, performance.now());
  }

  /** Never ourselves: a question would go round in circles. */
  async #findResolvers({ addresses }: NodePlan): Promise<readonly IpSocketAddress[]> {
    const { forwardTo } = this.#settings;
    const own = new Set<string>(Object.values(addresses));
    const text = forwardTo.length > 0 ? "" : await readFile(RESOLV_CONF, "utf8").catch(() => "");
    const found = forwardTo.length > 0 ? forwardTo : parseResolvers(text);
    return found.filter(({ ip }) => !own.has(ip));
  }

  #closeBoth(): void {
    this.#dns?.close();
    this.#dns = undefined;
    this.#closeMdns();
  }

  #closeMdns(): void {
    clearTimeout(this.#announcing);
    this.#mdns?.server.close();
    this.#mdns = undefined;
  }

  /** Once: it is tried again every now and then. */
  #complain(error: unknown): void {
    const complaint = messageOf(error);
    if (complaint === this.#complaint) return;
    this.#complaint = complaint;
    const message = `names are not answered: ${complaint}; it is tried again (--dns off, --mdns off: not at all)`;
    this.#parts.log.warn({ err: error }, message);
  }
}

function isSame(plan: NodePlan, before: NodePlan | undefined): boolean {
  return (
    plan.bridge === before?.bridge &&
    plan.addresses.v4 === before.addresses.v4 &&
    plan.addresses.v6 === before.addresses.v6
  );
}
