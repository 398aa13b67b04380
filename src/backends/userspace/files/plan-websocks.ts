import { formatHostPort } from "../../../core/model/address.ts";
import type { Listener } from "../../../core/model/listener.ts";
import { parseTargetRule } from "../../../core/model/target-rules.ts";
import { ACCESS_WORDS, parseWebsocksUrl, WAY_WORDS } from "../../../core/model/websocks.ts";
import type { ListenerConfig, SitePage, UserConfig } from "../../../proxy/engine-config.ts";
import type { NodeFacts } from "../node-facts.ts";
import { entryOf, type FileEntry, keptNote } from "./file-entry.ts";
import type { ListenerFiles } from "./listener-files.ts";

/** What files make of an end of tunnels. */
export interface WebsocksPlan {
  readonly config: Partial<Pick<ListenerConfig, "users" | "websocks" | "websocksAgent">>;
  /** Why it must not be opened; undefined where it may. */
  readonly obstacle?: string;
  /** What can not be honoured while it is open. */
  readonly notes: readonly string[];
}

/** One whose password can not be read stays closed. */
export function planWebsocks(
  listener: Listener,
  files: ListenerFiles,
  facts: NodeFacts,
): WebsocksPlan {
  const reader = new EntryReader();
  const config =
    listener.mode === "websocks"
      ? planServer(listener, files, reader)
      : planAgent(listener, files, facts, reader);
  const [obstacle] = reader.obstacles;
  return obstacle === undefined
    ? { config, notes: reader.notes }
    : { config: {}, obstacle, notes: [] };
}

function planServer(
  { websocks, usersFile }: Listener,
  files: ListenerFiles,
  reader: EntryReader,
): WebsocksPlan["config"] {
  const { user = "", passwordFile = "", targets = [], webRoot = "" } = websocks ?? {};
  const users: UserConfig[] = [];
  if (usersFile !== "") {
    users.push(...(reader.read(`usersFile ${usersFile}`, entryOf(files.users, usersFile)) ?? []));
  }
  if (user !== "") {
    const entry = entryOf(files.websocks.passwords, passwordFile);
    const password = reader.read(`passwordFile ${passwordFile}`, entry) ?? "";
    users.push({ name: user, password });
  }
  const site: ReadonlyMap<string, SitePage> | undefined =
    webRoot === ""
      ? undefined
      : reader.read(`webRoot ${webRoot}`, entryOf(files.websocks.sites, webRoot));
  const rules = targets.flatMap((text) => parseTargetRule(text, ACCESS_WORDS) ?? []);
  return { users, websocks: { targets: rules, site: site ?? new Map() } };
}

function planAgent(
  { websocksAgent }: Listener,
  files: ListenerFiles,
  { tlsObstacle }: NodeFacts,
  reader: EntryReader,
): WebsocksPlan["config"] {
  if (websocksAgent === undefined) return {};
  const { passwordFile, caFile, rules, poolSize } = websocksAgent;
  const urls = websocksAgent.servers.flatMap((text) => parseWebsocksUrl(text) ?? []);
  const { passwords, authorities } = files.websocks;
  const password = reader.read(`passwordFile ${passwordFile}`, entryOf(passwords, passwordFile));
  const isSecure = urls.some((url) => url.isSecure);
  if (isSecure && tlsObstacle !== undefined) reader.obstacles.push(`wss: ${tlsObstacle}`);
  const caPem = isSecure ? reader.read(`caFile ${caFile}`, entryOf(authorities, caFile)) : "";
  return {
    websocksAgent: {
      servers: new Map(urls.map((url) => [formatHostPort(url.host, url.port), url])),
      password: password ?? "",
      caPem: caPem ?? "",
      rules: rules.flatMap((text) => parseTargetRule(text, WAY_WORDS) ?? []),
      poolSize,
    },
  };
}

/** Gathers what is wrong with the files. */
class EntryReader {
  readonly obstacles: string[] = [];
  readonly notes: string[] = [];

  read<T>(what: string, { value, problem }: FileEntry<T>): T | undefined {
    const told = `${what}: ${problem}`;
    if (value === undefined) this.obstacles.push(told);
    else this.notes.push(...keptNote(told, problem));
    return value;
  }
}
