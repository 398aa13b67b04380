import type { Answer } from "dns-packet";
import { type Family, familyOf } from "../../core/model/address.ts";
import type { DnsQuestion } from "../../wire/dns/dns-question.ts";
import { type Rcode, TYPES } from "../../wire/dns/dns-words.ts";
import {
  meaningOfName,
  type NamedService,
  type NameMeaning,
  serviceAddresses,
} from "../table/name-meaning.ts";
import type { NameTable } from "./name-table.ts";
import { addressOfReverseName, NO_ADDRESSES, type OwnAddresses } from "./reverse-names.ts";
import { parseServiceName, planServices } from "./srv-targets.ts";

/** What is known here of a name. */
export interface NameAnswer {
  readonly rcode: Rcode;
  readonly answers: readonly Answer[];
  readonly additionals: readonly Answer[];
}

/** Services come and go: nobody keeps an answer for long. */
const TTL_SECONDS = 5;
/** More help nobody. */
const MAX_ADDRESSES = 64;
/** What mDNS asks for; nobody outside this node knows such names (RFC 6762 section 3). */
export const LOCAL_DOMAIN: RegExp = /\.local$/i;

const NOTHING: NameAnswer = { rcode: "NOERROR", answers: [], additionals: [] };
const NO_SUCH_NAME: NameAnswer = { ...NOTHING, rcode: "NXDOMAIN" };

type Meaning = NameMeaning<NamedService>;

/**
 * Answers for the services of a table: `NAME`, `rr.NAME`, `closest.NAME`, `2.NAME`, each also below `.local`.
 * The addresses are the service's; where it has none, those of its instances. And for addresses of the edge,
 * with the names of those that have one.
 */
export class EdgeNames {
  readonly #table: Pick<NameTable, "serviceNamed">;
  readonly #addresses: OwnAddresses;
  #turns = 0;

  constructor(table: Pick<NameTable, "serviceNamed">, addresses: OwnAddresses = NO_ADDRESSES) {
    this.#table = table;
    this.#addresses = addresses;
  }

  /** Undefined where the name is not ours: others may know it. */
  answer(question: Pick<DnsQuestion, "name" | "type">): NameAnswer | undefined {
    const { name, type } = question;
    const ip = addressOfReverseName(name);
    if (ip !== undefined) return this.#answerAddress(question, ip);
    const service = parseServiceName(name);
    const meaning = this.#meaningOf(service.host);
    if (meaning === undefined) return LOCAL_DOMAIN.test(name) ? NO_SUCH_NAME : undefined;
    const addresses = addressesOf(meaning);
    if (addresses === undefined) return NO_SUCH_NAME;
    if (type === TYPES.SRV) return this.#services(name, meaning);
    // Only SRV records have such names.
    if (service.protocol !== undefined) return NOTHING;
    const wanted = this.#inTurn(addresses.filter((ip) => isWanted(type, familyOf(ip))));
    return { ...NOTHING, answers: wanted.map((ip) => addressRecord(name, ip)) };
  }

  /** Nothing more is known of others. */
  answerUnknown(): undefined {
    return undefined;
  }

  /** Resolvers elsewhere know nothing of our addresses, and whoever asks would wait for all of them. */
  #answerAddress(
    { name, type }: Pick<DnsQuestion, "name" | "type">,
    ip: string,
  ): NameAnswer | undefined {
    const data = this.#addresses.nameOf(ip);
    if (data === undefined) return this.#addresses.has(ip) ? NO_SUCH_NAME : undefined;
    if (type !== TYPES.PTR && type !== TYPES.ANY) return NOTHING;
    return { ...NOTHING, answers: [{ type: "PTR", name, ttl: TTL_SECONDS, data }] };
  }

  #services(name: string, meaning: Meaning): NameAnswer {
    const hasAddresses = (host: string): boolean => {
      const other = this.#meaningOf(host);
      return other !== undefined && (addressesOf(other)?.length ?? 0) > 0;
    };
    const targets = planServices(name, meaning, hasAddresses);
    const hosts = new Set(targets.map(({ host }) => host));
    return {
      ...NOTHING,
      answers: targets.map(({ host: target, port, weight }) => ({
        type: "SRV",
        name,
        ttl: TTL_SECONDS,
        data: { priority: 0, weight, port, target },
      })),
      additionals: [...hosts].flatMap((host) => {
        const other = this.#meaningOf(host);
        return ((other && addressesOf(other)) ?? []).map((ip) => addressRecord(host, ip));
      }),
    };
  }

  /** A service may itself have a name below `.local`. */
  #meaningOf(name: string): Meaning | undefined {
    const find = (wanted: string): NamedService | undefined => this.#table.serviceNamed(wanted);
    return meaningOfName(name, find) ?? meaningOfName(name.replace(LOCAL_DOMAIN, ""), find);
  }

  /** Many take the first of several only: each is that in turn. */
  #inTurn(addresses: readonly string[]): readonly string[] {
    if (addresses.length < 2) return addresses;
    this.#turns += 1;
    const first = this.#turns % addresses.length;
    return [...addresses.slice(first), ...addresses.slice(0, first)].slice(0, MAX_ADDRESSES);
  }
}

/** Undefined where there is no such name. */
function addressesOf(meaning: Meaning): readonly string[] | undefined {
  const ofService = serviceAddresses(meaning);
  if (ofService !== undefined && ofService.length > 0) return ofService;
  const { instances } = meaning.service;
  if (meaning.kind === "plain") return instances.flatMap(({ addresses }) => addresses);
  if (meaning.kind !== "instance") return undefined;
  return instances.find(({ number }) => number === meaning.number)?.addresses;
}

function isWanted(type: number, family: Family): boolean {
  return type === TYPES.ANY || type === (family === "v4" ? TYPES.A : TYPES.AAAA);
}

function addressRecord(name: string, ip: string): Answer {
  return { type: familyOf(ip) === "v4" ? "A" : "AAAA", name, ttl: TTL_SECONDS, data: ip };
}
