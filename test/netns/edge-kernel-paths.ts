import { randomBytes } from "node:crypto";
import { closeSync } from "node:fs";
import { THIS_NODE } from "../../src/edge/kernel-path/layout.ts";
import { FilledMaps } from "../../src/edge/kernel-path/program/kernel-path-maps.fixture.ts";
import type { Ends } from "../../src/edge/kernel-path/program/map-entries.fixture.ts";
import { assembleReceiving } from "../../src/edge/kernel-path/program/receiving.ts";
import { assembleSending } from "../../src/edge/kernel-path/program/sending.ts";
import { AF_INET, SOCK_DGRAM } from "../../src/platform/linux/abi.ts";
import { watchReadable } from "../../src/platform/linux/binding.ts";
import { BpfAssembler } from "../../src/platform/linux/bpf/assembler.ts";
import { createLink } from "../../src/platform/linux/bpf/bpf-link.ts";
import {
  ATTACH_TYPE,
  HELPER,
  PROGRAM_TYPE,
  VERDICT,
} from "../../src/platform/linux/bpf/bpf-numbers.ts";
import { loadProgram } from "../../src/platform/linux/bpf/bpf-program.ts";
import { ioctl } from "../../src/platform/linux/io-calls.ts";
import { allocateNative, putPointer } from "../../src/platform/linux/native-memory.ts";
import { socket } from "../../src/platform/linux/socket-calls.ts";
import { checked } from "../../src/platform/linux/system-error.ts";
import { openTun, parseTunAddress, setTunOffloads } from "../../src/platform/linux/tun-device.ts";
import { Carrier, reversed } from "./carrier.ts";
import { EdgeNetwork, overlay, type PartyName, underlay } from "./edge-network.ts";

const PORT = 50_103;
const PEER = 7;
const PLACE = 9;
const RECORD = 1;
/** linux/sockios.h, linux/ethtool.h */
const SIOCETHTOOL = 0x8946;
const ETHTOOL_STXCSUM = 0x17;
const IFNAMSIZ = 16;
/** linux/if_ether.h, as it is in a packet. */
const ETHERTYPE_VLAN = 0x0081;

const HOSTS = ["a", "b"] as const;
type HostName = (typeof HOSTS)[number];
const OTHER = { a: "b", b: "a" } as const;
/** By which a host is named in datagrams to it. */
const RECEIVERS = { a: 0xaaaa_0001, b: 0xbbbb_0002 } as const;

/** A flow as `FlowPlan` has it, without what follows from the rest. */
export interface ServiceFlow {
  readonly protocol: number;
  readonly asked: Ends;
  readonly sent: Ends;
}

interface Host {
  readonly maps: FilledMaps;
  readonly tun: number;
  readonly descriptors: readonly number[];
  readonly watch: { close(): void };
}

/** Two hosts with the programs at work, and instead of a tunnel somebody who carries what is left to it. */
export class KernelPaths {
  readonly network: EdgeNetwork = EdgeNetwork.open();
  readonly carrier: Carrier = new Carrier();
  readonly #hosts = new Map<HostName, Host>();

  static open(mode: number, hasOffloads: boolean): KernelPaths {
    const paths = new KernelPaths();
    try {
      const keys = { a: randomBytes(32), b: randomBytes(32) };
      for (const host of HOSTS) paths.#openHost(host, mode, keys, hasOffloads);
      return paths;
    } catch (error) {
      paths.close();
      throw error;
    }
  }

  maps(host: HostName): FilledMaps {
    const found = this.#hosts.get(host);
    if (found === undefined) throw new Error(`host ${host} is not open`);
    return found.maps;
  }

  /** A flow from a workload of host a to a service that a workload of host b serves. */
  addFlow({ protocol, asked, sent }: ServiceFlow): void {
    const maps = this.maps("a");
    const answered = reversed(sent);
    const returned = reversed(asked);
    maps.addFlow(protocol, asked, sent, { isBack: false, isOpen: true, place: PLACE });
    maps.addFlow(protocol, answered, returned, { isBack: true, isOpen: true, place: PLACE });
    this.carrier.translate(asked, sent);
    this.carrier.translate(answered, returned);
  }

  /** What comes to a host is of a VLAN from now on. Returns how to end that. */
  tagAllTo(host: HostName, vlan: number): () => void {
    const assembler = new BpfAssembler();
    assembler.move("r2", ETHERTYPE_VLAN).move("r3", vlan).call(HELPER.pushVlan);
    assembler.move("r0", VERDICT.next).exit();
    const attachType = ATTACH_TYPE.tcxEgress;
    const type = PROGRAM_TYPE.schedClassifier;
    const instructions = assembler.assemble();
    const program = loadProgram({ name: "tag", type, attachType, instructions });
    const target = this.#linkOf("router", `to-${host}`);
    const link = this.network.inside("router", () => createLink({ program, target, attachType }));
    return () => {
      for (const descriptor of [link, program]) closeSync(descriptor);
    };
  }

  close(): void {
    for (const { maps, tun, descriptors, watch } of this.#hosts.values()) {
      watch.close();
      for (const descriptor of descriptors) closeSync(descriptor);
      closeSync(tun);
      maps.close();
    }
    this.network.close();
  }

  #openHost(
    host: HostName,
    mode: number,
    keys: Readonly<Record<HostName, Uint8Array>>,
    hasOffloads: boolean,
  ): void {
    const { network } = this;
    const addresses = overlay.tun(host).map(parseTunAddress);
    const tun = network.inside(host, () => openTun({ name: "tun0", mtu: 1400, addresses }));
    setTunOffloads(tun, hasOffloads);
    network.ip(host, "route add fdff::/16 dev tun0");
    const maps = new FilledMaps();
    maps.set(true, this.#linkOf(host, "tun0"), PORT);
    const other = OTHER[host];
    const ends = { localIp: underlay.v4(host), remoteIp: underlay.v4(other), port: PORT };
    const way = { ...ends, mode, record: RECORD };
    const link = this.#linkOf(host, "eth0");
    maps.addPeer(PEER, { ...way, receiver: RECEIVERS[other], key: keys[host] }, link);
    maps.addSender(PEER, { ...way, receiver: RECEIVERS[host], key: keys[other] });
    maps.addPlace(PLACE, PEER);
    for (const [owner, peer] of [
      [host, THIS_NODE],
      [other, PEER],
    ] as const) {
      for (const subnet of overlay.subnets(owner)) {
        const [address = "", bits] = subnet.split("/");
        maps.addRoute(address, Number(bits), peer);
      }
    }
    const descriptors = this.#attach(host, maps);
    // A card that completes no checksums would show where the kernel believes that one has to be completed.
    this.#completeChecksums(host);
    if (!hasOffloads) this.#completeChecksums(`${host}1`);
    const watch = watchReadable(tun, () => {
      const target = this.#hosts.get(other);
      if (target !== undefined) this.carrier.carry(tun, target.tun);
    });
    this.#hosts.set(host, { maps, tun, descriptors, watch });
  }

  #attach(host: HostName, maps: FilledMaps): readonly number[] {
    const places = [
      ["sending", assembleSending(maps.descriptors), ATTACH_TYPE.tcxEgress, "tun0"],
      ["receiving", assembleReceiving(maps.descriptors), ATTACH_TYPE.tcxIngress, "eth0"],
    ] as const;
    return places.flatMap(([name, instructions, attachType, device]) => {
      const type = PROGRAM_TYPE.schedClassifier;
      const program = loadProgram({ name, type, attachType, instructions });
      const target = this.#linkOf(host, device);
      const link = this.network.inside(host, () => createLink({ program, target, attachType }));
      return [link, program];
    });
  }

  #linkOf(host: PartyName, name: string): number {
    const told = this.network.exec(host, "ip", "-o", "link", "show", "dev", name);
    return Number.parseInt(told, 10);
  }

  /** Packets leave with whole checksums from now on. */
  #completeChecksums(party: PartyName): void {
    this.network.inside(party, () => {
      const control = checked("socket", socket(AF_INET, SOCK_DGRAM, 0));
      const value = allocateNative(8);
      value.view.setUint32(0, ETHTOOL_STXCSUM, true);
      const request = allocateNative(40);
      request.bytes.set(Buffer.from("eth0"));
      putPointer(request.view, IFNAMSIZ, value.address);
      checked("SIOCETHTOOL", ioctl(control, SIOCETHTOOL, request.address));
      closeSync(control);
    });
  }
}
