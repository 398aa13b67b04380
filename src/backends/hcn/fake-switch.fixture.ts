import type { Packet } from "../../core/route/packet.ts";
import { parseEndpoint } from "../../platform/windows/endpoint.ts";
import type { FakeHcn } from "../../platform/windows/fake.ts";
import { type LoadBalancer, parseLoadBalancer } from "../../platform/windows/load-balancer.ts";
import type { Observation } from "../contract-judge.ts";

/** The node on which the switch is. */
export interface SwitchPlace {
  /** Addresses on which node ports are answered. */
  readonly nodeIps: readonly string[];
  /** What endpoints see of clients whose address is not kept. */
  readonly ownIp: string;
}

/**
 * What a virtual switch makes of packets by the load balancers that a fake HCN holds, as Microsoft
 * describes it: the one for protocol, address and port takes the packet; one without an address takes those
 * for the node; all endpoints are as likely; with distribution by source a client stays; with direct server
 * return, and only then, its address is kept. What no load balancer takes goes its way.
 */
export class FakeSwitch {
  readonly #fake: FakeHcn;
  readonly #place: SwitchPlace;
  /** The endpoint of each client that is bound to one. */
  readonly #bound = new Map<string, string>();
  /** What was read, by its text: for the next packet it is the same. */
  readonly #balancers = new Map<string, LoadBalancer>();
  #turn = 0;

  constructor(fake: FakeHcn, place: SwitchPlace) {
    this.#fake = fake;
    this.#place = place;
  }

  /** @param isKept whether a client without a history has one from now on */
  send(packet: Packet, isKept: boolean): Observation {
    const found = this.#find(packet);
    if (found === undefined) return { kind: "untouched" };
    const { id, endpoints, isDsr, portMappings } = found;
    const [mapping] = portMappings;
    if (mapping === undefined) return { kind: "dropped" };
    const client = `${id} ${packet.src}`;
    const bound = mapping.distribution === "none" ? undefined : this.#bound.get(client);
    const endpoint =
      bound !== undefined && endpoints.includes(bound) ? bound : this.#next(endpoints);
    if (isKept) this.#bound.set(client, endpoint);
    const json = this.#fake.all("Endpoint").get(endpoint);
    const address = json === undefined ? undefined : parseEndpoint(json).addresses[0]?.address;
    if (address === undefined) return { kind: "dropped" };
    const source = isDsr ? packet.src : this.#place.ownIp;
    return { kind: "arrived", address, port: mapping.internalPort, source };
  }

  #find({ protocol, dst, dstPort }: Packet): LoadBalancer | undefined {
    const isIpv6 = dst.includes(":");
    const balancers = [...this.#fake.all("LoadBalancer").values()].map((json) => this.#read(json));
    const suiting = balancers.filter(
      (one) =>
        one.isIpv6 === isIpv6 &&
        one.portMappings.some((own) => own.protocol === protocol && own.externalPort === dstPort),
    );
    const isOwn = this.#place.nodeIps.includes(dst);
    return (
      suiting.find(({ frontendVips }) => frontendVips.includes(dst)) ??
      suiting.find(({ frontendVips }) => frontendVips.length === 0 && isOwn)
    );
  }

  #read(json: string): LoadBalancer {
    const known = this.#balancers.get(json) ?? parseLoadBalancer(json);
    this.#balancers.set(json, known);
    return known;
  }

  #next(endpoints: readonly string[]): string {
    this.#turn += 1;
    return endpoints[this.#turn % endpoints.length] ?? "";
  }
}
