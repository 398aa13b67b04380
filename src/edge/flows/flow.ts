import type { IpPacket } from "../../wire/ip/ip-packet.ts";
import { type PacketEnds, Translation } from "../../wire/ip/translate.ts";
import type { LiveInstance } from "../table/live-instance.ts";

/** What is known of a flow, which says how long it is kept without packets. */
export type FlowState = "asked" | "closing" | "echo" | "datagrams" | "connection";

/** One direction of a flow: the packets that belong to it, and what becomes of them. */
export class FlowEnd<T> {
  readonly flow: Flow<T>;
  readonly isBack: boolean;
  readonly from: PacketEnds;
  readonly to: PacketEnds;
  readonly translation: Translation;
  /** The next one with the same hash. */
  next: FlowEnd<T> | undefined;

  constructor(flow: Flow<T>, isBack: boolean, from: PacketEnds, to: PacketEnds) {
    this.flow = flow;
    this.isBack = isBack;
    this.from = from;
    this.to = to;
    this.translation = new Translation(from, to);
  }

  matches(packet: IpPacket): boolean {
    const { source, destination, ports } = this.from;
    return (
      ports === packet.ports &&
      destination.w3 === packet.d3 &&
      source.w3 === packet.s3 &&
      this.flow.protocol === packet.protocol &&
      source.w2 === packet.s2 &&
      source.w1 === packet.s1 &&
      source.w0 === packet.s0 &&
      destination.w2 === packet.d2 &&
      destination.w1 === packet.d1 &&
      destination.w0 === packet.d0 &&
      source.isV6 === packet.isV6
    );
  }
}

/** How the packets of a flow look before and after, to the server and back. */
export interface FlowPlan {
  readonly protocol: number;
  readonly asked: PacketEnds;
  readonly sent: PacketEnds;
  readonly answered: PacketEnds;
  readonly returned: PacketEnds;
}

/** Packets between two ends that go to one instance. */
export class Flow<T> {
  readonly protocol: number;
  readonly plan: FlowPlan;
  readonly instance: LiveInstance;
  /** Where packets go that are sent to the instance. */
  target: T;
  readonly forward: FlowEnd<T>;
  readonly back: FlowEnd<T>;
  state: FlowState = "asked";
  lastUsedMs = 0;
  /** Neighbours in the list of its state. */
  older: Flow<T> | undefined;
  newer: Flow<T> | undefined;

  constructor(plan: FlowPlan, instance: LiveInstance, target: T) {
    this.protocol = plan.protocol;
    this.plan = plan;
    this.instance = instance;
    this.target = target;
    this.forward = new FlowEnd(this, false, plan.asked, plan.sent);
    this.back = new FlowEnd(this, true, plan.answered, plan.returned);
  }
}
