import type { Answer } from "dns-packet";
import { type Family, familyOf } from "../../core/model/address.ts";
import type { DnsQuestion } from "../../wire/dns/dns-question.ts";
import { type Rcode, TYPES } from "../../wire/dns/dns-words.ts";
import type { Server } from "../balance/server.ts";
import type { DnsConfig } from "../engine-config.ts";
import type { ServerGroup } from "../server-group.ts";
import { parseAddressLabel, renderAddressLabel } from "./address-label.ts";

/** What is known here of a name. */
export interface LocalAnswer {
  readonly rcode: Rcode;
  readonly answers: readonly Answer[];
  readonly additionals: readonly Answer[];
}

export type NamedGroup = Pick<ServerGroup, "servers" | "next" | "nextUnjudged">;

/** The groups that names lead to. */
export interface NamedGroups {
  /** The hosts that groups are known by: `a.example`, `*.example`. */
  readonly hosts: readonly string[];
  groupNamed(host: string): NamedGroup | undefined;
}

/** Who asks, and when. */
export interface Asking {
  readonly client: string;
  readonly nowMs: number;
}

const HOSTS_TTL_SECONDS = 60;
/** More do not fit into a datagram, and nobody needs them. */
const MAX_SERVERS = 16;
const MAX_SRV_WEIGHT = 65_535;
/** `_service._protocol.` before the name (RFC 2782). */
const SERVICE_LABELS = /^_[^.]+\._[^.]+\./;

const NOTHING: LocalAnswer = { rcode: "NOERROR", answers: [], additionals: [] };
const NO_SUCH_NAME: LocalAnswer = { ...NOTHING, rcode: "NXDOMAIN" };
const NOBODY_UP: LocalAnswer = { ...NOTHING, rcode: "SERVFAIL" };

/** Answers from the hosts file, and from groups by their hints. */
export class LocalNames {
  readonly #hosts: DnsConfig["hosts"];
  readonly #groups: () => NamedGroups | undefined;
  readonly #ttlSeconds: number;
  #turns = 0;

  constructor(
    { hosts, ttlSeconds }: Pick<DnsConfig, "hosts" | "ttlSeconds">,
    groups: () => NamedGroups | undefined,
  ) {
    this.#hosts = hosts;
    this.#groups = groups;
    this.#ttlSeconds = ttlSeconds;
  }

  /** Undefined where the name is not ours. */
  answer(question: DnsQuestion, asking: Asking): LocalAnswer | undefined {
    const name = question.name.toLowerCase();
    const addresses = this.#hosts.get(name);
    if (addresses !== undefined) return this.#fromHosts(question, addresses);
    const groups = this.#groups();
    if (groups === undefined) return undefined;
    const ttl = this.#ttlSeconds;
    if (question.type === TYPES.SRV) return fromServices(question, groups, asking, ttl);
    return ofOneServer(question, groups, ttl) ?? fromGroup(question, groups, asking, ttl);
  }

  /** For names that nobody else is asked for: those below ours do not exist. */
  answerUnknown(question: DnsQuestion): LocalAnswer | undefined {
    const name = question.name.toLowerCase();
    const isBelow = (host: string): boolean => name.endsWith(`.${host.toLowerCase()}`);
    const isOurs = [...this.#hosts.keys(), ...(this.#groups()?.hosts ?? [])].some(isBelow);
    return isOurs ? NO_SUCH_NAME : undefined;
  }

  #fromHosts(question: DnsQuestion, addresses: readonly string[]): LocalAnswer {
    const wanted = addresses.filter((ip) => isWanted(question, familyOf(ip)));
    this.#turns += 1;
    const first = this.#turns % Math.max(1, wanted.length);
    const answers = [...wanted.slice(first), ...wanted.slice(0, first)].map((ip) =>
      addressRecord(question.name, ip, HOSTS_TTL_SECONDS),
    );
    return { ...NOTHING, answers };
  }
}

function fromGroup(
  question: DnsQuestion,
  groups: NamedGroups,
  asking: Asking,
  ttlSeconds: number,
): LocalAnswer | undefined {
  const group = groups.groupNamed(question.name);
  if (group === undefined) return undefined;
  const accepts = ({ address }: Server): boolean =>
    hasIp(address) && isWanted(question, familyOf(address));
  const servers = inTurn(group, accepts, asking);
  // Where others are up, there is just nothing of the kind that was asked for.
  if (servers.length === 0) return available(group).length > 0 ? NOTHING : NOBODY_UP;
  // The same address may serve on several ports.
  const ips = new Set(servers.map(({ address }) => address));
  const answers = [...ips].map((ip) => addressRecord(question.name, ip, ttlSeconds));
  return { ...NOTHING, answers };
}

function fromServices(
  question: DnsQuestion,
  groups: NamedGroups,
  asking: Asking,
  ttlSeconds: number,
): LocalAnswer | undefined {
  const host = question.name.replace(SERVICE_LABELS, "");
  const group = groups.groupNamed(host);
  if (group === undefined) return undefined;
  const servers = inTurn(group, ({ address }) => hasIp(address), asking);
  if (servers.length === 0) return NOBODY_UP;
  const targets = servers.map((server) => ({
    server,
    target: `${renderAddressLabel(server.address)}.${host}`,
  }));
  return {
    rcode: "NOERROR",
    answers: targets.map(({ server: { port, weight }, target }) => ({
      type: "SRV",
      name: question.name,
      ttl: ttlSeconds,
      data: { priority: 0, weight: srvWeight(weight), port, target },
    })),
    additionals: targets.map(({ server: { address }, target }) =>
      addressRecord(target, address, ttlSeconds),
    ),
  };
}

/** The names that answers to SRV give: one server of a group. */
function ofOneServer(
  question: DnsQuestion,
  groups: NamedGroups,
  ttlSeconds: number,
): LocalAnswer | undefined {
  const { name } = question;
  const dot = name.indexOf(".");
  const ip = dot < 0 ? undefined : parseAddressLabel(name.slice(0, dot).toLowerCase());
  const group = ip === undefined ? undefined : groups.groupNamed(name.slice(dot + 1));
  if (ip === undefined || group === undefined) return undefined;
  if (!available(group).some(({ address }) => address === ip)) return undefined;
  const answers = isWanted(question, familyOf(ip)) ? [addressRecord(name, ip, ttlSeconds)] : [];
  return { ...NOTHING, answers };
}

/**
 * The servers that take connections: first the one whose turn it is, by the group's own method. Where
 * there is none, one that no check has judged yet.
 */
function inTurn(
  group: NamedGroup,
  accepts: (server: Server) => boolean,
  { client, nowMs }: Asking,
): readonly Server[] {
  const servers = available(group).filter(accepts);
  const first =
    servers.length === 0 ? group.nextUnjudged(accepts) : group.next(client, nowMs, accepts);
  if (first === undefined) return [];
  return [first, ...servers.filter((server) => server !== first)].slice(0, MAX_SERVERS);
}

function available(group: NamedGroup): readonly Server[] {
  return [...group.servers()].filter(({ weight }) => weight > 0);
}

function srvWeight(weight: number): number {
  return Math.min(MAX_SRV_WEIGHT, Math.max(1, Math.round(weight)));
}

function hasIp(address: string): boolean {
  return !address.startsWith("/");
}

function isWanted({ type }: DnsQuestion, family: Family): boolean {
  return type === TYPES.ANY || type === (family === "v4" ? TYPES.A : TYPES.AAAA);
}

function addressRecord(name: string, ip: string, ttl: number): Answer {
  return { type: familyOf(ip) === "v4" ? "A" : "AAAA", name, ttl, data: ip };
}
