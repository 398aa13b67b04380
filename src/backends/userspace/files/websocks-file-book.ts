import { CoreError, messageOf } from "../../../core/errors.ts";
import type { Listener } from "../../../core/model/listener.ts";
import { parseWebsocksUrl } from "../../../core/model/websocks.ts";
import { checkAuthorities } from "../../../platform/tls/check-pair.ts";
import type { SitePage } from "../../../proxy/engine-config.ts";
import { FileBook } from "./file-book.ts";
import type { FileEntry } from "./file-entry.ts";
import { parsePassword } from "./parse-password.ts";
import { readSite } from "./read-site.ts";
import { readSystemAuthorities } from "./read-system-authorities.ts";

type Site = ReadonlyMap<string, SitePage>;

/** What the files say that tunnels name, by their paths. */
export interface WebsocksFiles {
  /** Also by `env:NAME`. */
  readonly passwords: ReadonlyMap<string, FileEntry<string>>;
  readonly sites: ReadonlyMap<string, FileEntry<Site>>;
  /** PEM texts; by the empty path those of the system, where they are asked for. */
  readonly authorities: ReadonlyMap<string, FileEntry<string>>;
}

export const NO_WEBSOCKS_FILES: WebsocksFiles = {
  passwords: new Map(),
  sites: new Map(),
  authorities: new Map(),
};

export interface WebsocksFileBookOptions {
  /** Some file says something else than before. */
  readonly onChanged: () => void;
  readonly pollMs: number;
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

const ENVIRONMENT = "env:";

/** Reads the files that tunnels name, and follows them; sites are read once. */
export class WebsocksFileBook {
  readonly #passwords: FileBook<string>;
  readonly #authorities: FileBook<string>;
  readonly #sites = new Map<string, FileEntry<Site>>();
  readonly #environment: Readonly<Record<string, string | undefined>>;
  #system: Promise<string> | undefined;

  constructor({ onChanged, pollMs, environment = process.env }: WebsocksFileBookOptions) {
    this.#passwords = new FileBook({ parse: parsePassword, onChanged, pollMs });
    this.#authorities = new FileBook({ parse: parseAuthorities, onChanged, pollMs });
    this.#environment = environment;
  }

  async follow(listeners: readonly Listener[]): Promise<WebsocksFiles> {
    const servers = listeners.flatMap(({ mode, websocks }) =>
      mode === "websocks" ? (websocks ?? []) : [],
    );
    const agents = listeners.flatMap(({ mode, websocksAgent }) =>
      mode === "websocks-agent" ? (websocksAgent ?? []) : [],
    );
    const named = [...servers, ...agents].map(({ passwordFile }) => passwordFile);
    const isVariable = (path: string): boolean => path.startsWith(ENVIRONMENT);
    const files = named.filter((path) => path !== "" && !isVariable(path));
    const secure = agents.filter(hasSecure).map(({ caFile }) => caFile);
    const [passwords, authorities] = await Promise.all([
      this.#passwords.follow(new Set(files)),
      this.#authorities.follow(new Set(secure.filter((path) => path !== ""))),
      this.#readSites(servers.map(({ webRoot }) => webRoot).filter((path) => path !== "")),
    ]);
    const variables = named
      .filter(isVariable)
      .map((name) => [name, this.#readVariable(name)] as const);
    const system = secure.includes("") ? [["", await this.#readSystem()] as const] : [];
    return {
      passwords: new Map([...passwords, ...variables]),
      authorities: new Map([...authorities, ...system]),
      sites: new Map(this.#sites),
    };
  }

  close(): void {
    this.#passwords.close();
    this.#authorities.close();
    this.#sites.clear();
  }

  #readVariable(name: string): FileEntry<string> {
    const text = this.#environment[name.slice(ENVIRONMENT.length)];
    if (text === undefined) return { value: undefined, problem: "it is not set" };
    return attempt(() => parsePassword(text));
  }

  async #readSystem(): Promise<FileEntry<string>> {
    this.#system ??= readSystemAuthorities();
    return { value: await this.#system, problem: "" };
  }

  async #readSites(folders: readonly string[]): Promise<void> {
    for (const folder of [...this.#sites.keys()]) {
      if (!folders.includes(folder)) this.#sites.delete(folder);
    }
    for (const folder of folders) {
      if (this.#sites.get(folder)?.value !== undefined) continue;
      const site = readSite(folder).then(
        (value) => ({ value, problem: "" }),
        (error: unknown) => ({ value: undefined, problem: messageOf(error) }),
      );
      this.#sites.set(folder, await site);
    }
  }
}

function hasSecure({ servers }: { readonly servers: readonly string[] }): boolean {
  return servers.some((url) => parseWebsocksUrl(url)?.isSecure === true);
}

function parseAuthorities(pem: string): string {
  const problem = checkAuthorities(pem);
  if (problem !== undefined) throw new CoreError("ERR_CONFIG_INVALID", problem);
  return pem;
}

function attempt<T>(read: () => T): FileEntry<T> {
  try {
    return { value: read(), problem: "" };
  } catch (error) {
    return { value: undefined, problem: messageOf(error) };
  }
}
