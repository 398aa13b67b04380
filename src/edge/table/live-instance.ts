import { familyOf } from "../../core/model/address.ts";
import { type AddressWords, wordsOfIp } from "../../wire/ip/address-words.ts";
import { PROTOCOL_TCP, PROTOCOL_UDP } from "../../wire/ip/ip-numbers.ts";
import type { InstancePort } from "./name-meaning.ts";

/** A workload that serves. */
export interface EdgeInstance {
  /** Its number among the instances of the service. */
  readonly number: number;
  /** Name of the node that it runs on. */
  readonly node: string;
  /** Its own addresses, one of a family at most. */
  readonly addresses: readonly string[];
  /** Share of new flows; 0 drains. */
  readonly weight: number;
  /** What it serves on, where that is known. */
  readonly ports?: readonly InstancePort[];
  /** Where calls to a port of its service come to; others are refused. Missing: every port, as it is called. */
  readonly leads?: readonly PortLead[];
}

/** A port of a service, and the one that an instance serves it on. */
export interface PortLead {
  readonly protocol: "tcp" | "udp";
  readonly port: number;
  readonly target: number;
}

const PROTOCOL_NUMBERS = { tcp: PROTOCOL_TCP, udp: PROTOCOL_UDP } as const;

/**
 * An instance for as long as it lives: who holds one sees by `isGone` that it does not any more. An
 * instance that moves to another node or address is another one.
 */
export class LiveInstance {
  readonly service: string;
  readonly number: number;
  readonly node: string;
  readonly v4: AddressWords | undefined;
  readonly v6: AddressWords | undefined;
  weight: number;
  isGone = false;
  /** How much it is owed, in turns of `pickInTurn`; each policy has turns of its own. */
  readonly credits = { "round-robin": 0, closest: 0 };
  #leads: ReadonlyMap<number, number> | undefined;
  readonly #addresses: readonly string[];

  constructor(service: string, instance: EdgeInstance) {
    this.service = service;
    this.number = instance.number;
    this.node = instance.node;
    this.weight = instance.weight;
    this.update(instance);
    this.#addresses = instance.addresses;
    const v4 = instance.addresses.find((ip) => familyOf(ip) === "v4");
    const v6 = instance.addresses.find((ip) => familyOf(ip) === "v6");
    this.v4 = v4 === undefined ? undefined : wordsOfIp(v4);
    this.v6 = v6 === undefined ? undefined : wordsOfIp(v6);
  }

  get addresses(): readonly string[] {
    return this.#addresses;
  }

  /** What may change while it lives. */
  update({ weight, leads }: EdgeInstance): void {
    this.weight = weight;
    this.#leads =
      leads &&
      new Map(
        leads.map(({ protocol, port, target }) => [
          leadKey(PROTOCOL_NUMBERS[protocol], port),
          target,
        ]),
      );
  }

  /** Where it serves what is called at a port of its service; undefined where it does not. */
  targetOf(protocol: number, port: number): number | undefined {
    const isWhole = this.#leads === undefined || !CARRYING_PORTS.has(protocol);
    return isWhole ? port : this.#leads?.get(leadKey(protocol, port));
  }

  addressOf(isV6: boolean): AddressWords | undefined {
    return isV6 ? this.v6 : this.v4;
  }

  isStill({ number, node, addresses }: EdgeInstance): boolean {
    return (
      this.number === number &&
      this.node === node &&
      this.#addresses.length === addresses.length &&
      this.#addresses.every((ip, index) => ip === addresses[index])
    );
  }
}

const CARRYING_PORTS: ReadonlySet<number> = new Set(Object.values(PROTOCOL_NUMBERS));

function leadKey(protocol: number, port: number): number {
  return (protocol << 16) | port;
}
