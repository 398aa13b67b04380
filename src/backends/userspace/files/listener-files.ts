import { getServers } from "node:dns";
import type { Certificate } from "../../../core/model/certificate.ts";
import type { Group } from "../../../core/model/group.ts";
import type { Listener } from "../../../core/model/listener.ts";
import type { IpSocketAddress } from "../../../platform/socket-address.ts";
import { parseResolver, parseResolvers } from "../../../proxy/dns/parse-resolvers.ts";
import type { UserConfig } from "../../../proxy/engine-config.ts";
import { FileBook } from "./file-book.ts";
import type { FileEntry } from "./file-entry.ts";
import { type HostTable, parseHosts } from "./parse-hosts.ts";
import { parseUsers } from "./parse-users.ts";
import { NO_TLS_FILES, TlsFileBook, type TlsFiles } from "./tls-file-book.ts";
import { NO_WEBSOCKS_FILES, WebsocksFileBook, type WebsocksFiles } from "./websocks-file-book.ts";

/** What the files say that listeners name, by their paths. */
export interface ListenerFiles {
  readonly users: ReadonlyMap<string, FileEntry<readonly UserConfig[]>>;
  readonly hosts: ReadonlyMap<string, FileEntry<HostTable>>;
  /** The resolvers of this machine; asked for by DNS listeners that name none. */
  readonly resolvers: readonly IpSocketAddress[];
  readonly tls: TlsFiles;
  readonly websocks: WebsocksFiles;
}

export const NO_FILES: ListenerFiles = {
  users: new Map(),
  hosts: new Map(),
  resolvers: [],
  tls: NO_TLS_FILES,
  websocks: NO_WEBSOCKS_FILES,
};

export interface ListenerFileBookOptions {
  /** Some file says something else than before. */
  readonly onChanged: () => void;
  readonly pollMs?: number;
  readonly resolvConf?: string;
}

const POLL_MS = 1000;
const RESOLV_CONF = "/etc/resolv.conf";

/** Reads the files that listeners name, and follows them. */
export class ListenerFileBook {
  readonly #users: FileBook<readonly UserConfig[]>;
  readonly #hosts: FileBook<HostTable>;
  readonly #resolvers: FileBook<readonly IpSocketAddress[]>;
  readonly #tls: TlsFileBook;
  readonly #websocks: WebsocksFileBook;
  readonly #resolvConf: string;

  constructor({ onChanged, pollMs = POLL_MS, resolvConf = RESOLV_CONF }: ListenerFileBookOptions) {
    this.#users = new FileBook({ parse: parseUsers, onChanged, pollMs });
    this.#hosts = new FileBook({ parse: parseHosts, onChanged, pollMs });
    this.#resolvers = new FileBook({ parse: parseResolvers, onChanged, pollMs });
    this.#tls = new TlsFileBook({ onChanged, pollMs });
    this.#websocks = new WebsocksFileBook({ onChanged, pollMs });
    this.#resolvConf = resolvConf;
  }

  async follow(
    listeners: Iterable<Listener>,
    certificates: ReadonlyMap<string, Certificate>,
    groups: Iterable<Group> = [],
  ): Promise<ListenerFiles> {
    const all = [...listeners];
    const socks = all.filter(({ mode }) => mode === "socks5" || mode === "websocks");
    const dns = all.filter(({ mode }) => mode === "dns");
    const asksSystem = dns.some((one) => one.allowOthers && one.forwardTo.length === 0);
    const [users, hosts, resolvers, tls, websocks] = await Promise.all([
      this.#users.follow(pathsOf(socks, ({ usersFile }) => usersFile)),
      this.#hosts.follow(pathsOf(dns, ({ hostsFile }) => hostsFile)),
      this.#resolvers.follow(new Set(asksSystem ? [this.#resolvConf] : [])),
      this.#tls.follow(all, certificates, [...groups]),
      this.#websocks.follow(all),
    ]);
    const system = asksSystem ? resolvers.get(this.#resolvConf)?.value : [];
    return { users, hosts, resolvers: system ?? resolversOfNode(), tls, websocks };
  }

  close(): void {
    for (const book of [this.#users, this.#hosts, this.#resolvers, this.#tls, this.#websocks]) {
      book.close();
    }
  }
}

function pathsOf(
  listeners: readonly Listener[],
  pathOf: (listener: Listener) => string,
): ReadonlySet<string> {
  return new Set(listeners.map(pathOf).filter((path) => path !== ""));
}

/** Where there is no resolv.conf. */
function resolversOfNode(): readonly IpSocketAddress[] {
  return getServers().flatMap((text) => parseResolver(text) ?? []);
}
