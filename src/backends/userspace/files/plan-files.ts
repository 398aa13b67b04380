import { isLoopback, isWildcard } from "../../../core/model/address.ts";
import type { Listener } from "../../../core/model/listener.ts";
import type { IpSocketAddress } from "../../../platform/socket-address.ts";
import { parseResolver } from "../../../proxy/dns/parse-resolvers.ts";
import type { DnsConfig, ListenerConfig } from "../../../proxy/engine-config.ts";
import type { NodeFacts } from "../node-facts.ts";
import { entryOf, type FileEntry, keptNote } from "./file-entry.ts";
import type { ListenerFiles } from "./listener-files.ts";
import { planWebsocks } from "./plan-websocks.ts";

/** What files make of a listener. */
export interface FilePlan {
  readonly config: Pick<ListenerConfig, "users" | "dns" | "websocks" | "websocksAgent">;
  /** Why it must not be opened; undefined where it may. */
  readonly obstacle?: string;
  /** What can not be honoured while it is open. */
  readonly notes: readonly string[];
}

const NOTHING: FilePlan["config"] = {
  users: [],
  dns: undefined,
  websocks: undefined,
  websocksAgent: undefined,
};

/** Users and names of a listener. One whose files can not be read stays closed: it would let everyone in. */
export function planFiles(listener: Listener, files: ListenerFiles, facts: NodeFacts): FilePlan {
  switch (listener.mode) {
    case "socks5":
      return planUsers(listener, files);
    case "dns":
      return planDns(listener, files, facts);
    case "websocks":
    case "websocks-agent": {
      const { config, ...plan } = planWebsocks(listener, files, facts);
      return { config: { ...NOTHING, ...config }, ...plan };
    }
    default:
      return { config: NOTHING, notes: [] };
  }
}

function planUsers({ usersFile }: Listener, files: ListenerFiles): FilePlan {
  if (usersFile === "") return { config: NOTHING, notes: [] };
  const { value, problem } = entryOf(files.users, usersFile);
  const what = `usersFile ${usersFile}: ${problem}`;
  if (value === undefined) return { config: NOTHING, obstacle: what, notes: [] };
  return { config: { ...NOTHING, users: value }, notes: keptNote(what, problem) };
}

function planDns(listener: Listener, files: ListenerFiles, facts: NodeFacts): FilePlan {
  const { hostsFile, forwardTo } = listener;
  const entry: FileEntry<DnsConfig["hosts"]> =
    hostsFile === "" ? { value: new Map(), problem: "" } : entryOf(files.hosts, hostsFile);
  const what = `hostsFile ${hostsFile}: ${entry.problem}`;
  if (entry.value === undefined) return { config: NOTHING, obstacle: what, notes: [] };
  const named = forwardTo.flatMap((text) => parseResolver(text) ?? []);
  const resolvers = forwardTo.length === 0 ? files.resolvers : named;
  const others = resolvers.filter((resolver) => !isOwn(resolver, listener, facts));
  const notes = keptNote(what, entry.problem);
  if (listener.allowOthers && others.length === 0) notes.push("there is no resolver to forward to");
  const dns = { hosts: entry.value, forwardTo: others, ttlSeconds: listener.dnsTtlSeconds };
  return { config: { ...NOTHING, dns }, notes };
}

/** Who forwards to itself goes round in circles. */
function isOwn({ ip, port }: IpSocketAddress, listener: Listener, facts: NodeFacts): boolean {
  if (port !== listener.port) return false;
  if (!isWildcard(listener.address)) return ip === listener.address;
  return isLoopback(ip) || facts.machineAddresses.has(ip);
}
