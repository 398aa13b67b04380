import { closeSync, constants, openSync } from "node:fs";
import { CoreError, messageOf } from "../../core/errors.ts";
import { familyOf, parseCidr } from "../../core/model/address.ts";
import { writeIp } from "../../wire/ip-bytes.ts";
import { AF_INET, AF_INET6, O_CLOEXEC, SOCK_CLOEXEC, SOCK_DGRAM } from "./abi.ts";
import { close, ioctl } from "./io-calls.ts";
import { allocateNative } from "./native-memory.ts";
import { socket } from "./socket-calls.ts";
import { checked } from "./system-error.ts";

/** linux/if_tun.h */
const TUNSETIFF = 0x4004_54ca;
const TUNGETIFF = 0x8004_54d2;
const TUNSETOFFLOAD = 0x4004_54d0;
const IFF_TUN = 0x0001;
const IFF_NO_PI = 0x1000;
const IFF_VNET_HDR = 0x4000;
const TUN_F_CSUM = 0x01;
const TUN_F_TSO4 = 0x02;
const TUN_F_TSO6 = 0x04;
/** Since Linux 6.2. */
const TUN_F_USO4 = 0x20;
const TUN_F_USO6 = 0x40;

/** netdevice(7), ipv6(7) */
const SIOCGIFFLAGS = 0x8913;
const SIOCSIFFLAGS = 0x8914;
const SIOCSIFADDR = 0x8916;
const SIOCSIFNETMASK = 0x891c;
const SIOCSIFMTU = 0x8922;
const SIOCGIFINDEX = 0x8933;
const IFF_UP = 0x1;
const IFNAMSIZ = 16;
const IFREQ_BYTES = 40;
const SOCKADDR_IN_ADDRESS = 4;
/** struct in6_ifreq: address, length of the prefix, number of the link. */
const IN6_PREFIX = 16;
const IN6_INDEX = 20;

/** struct virtio_net_hdr stands before every packet that is read or written. */
export const VNET_BYTES = 10;

/** Which super-packets a TUN gives and takes. */
export type TunOffloads = "none" | "tcp" | "tcp-udp";

/** `10.19.1.254/12`: the address of a link, and what it reaches directly. */
export interface TunAddress {
  readonly ip: string;
  readonly prefix: number;
}

/** @throws CoreError ERR_CONFIG_INVALID */
export function parseTunAddress(text: string): TunAddress {
  const [ip = "", prefix] = text.split("/");
  if (parseCidr(text) === undefined || prefix === undefined) {
    throw new CoreError(
      "ERR_CONFIG_INVALID",
      `address of the tunnel: "${text}" is none; write it as 10.19.1.254/12`,
    );
  }
  return { ip, prefix: Number(prefix) };
}

/**
 * Makes a TUN with virtio headers, in the network namespace of this thread, and brings it up. It is
 * there as long as its descriptor is open. Needs root.
 * @throws CoreError ERR_NOT_POSSIBLE_HERE, ERR_SYSTEM_CALL
 */
export function openTun(options: {
  readonly name: string;
  readonly mtu: number;
  readonly addresses: readonly TunAddress[];
}): number {
  if (Buffer.byteLength(options.name) >= IFNAMSIZ || options.name === "") {
    throw new CoreError(
      "ERR_CONFIG_INVALID",
      `name of the TUN: "${options.name}" is not 1 to ${IFNAMSIZ - 1} bytes long`,
    );
  }
  const descriptor = openClone();
  try {
    const request = requestFor(options.name);
    request.view.setUint16(IFNAMSIZ, IFF_TUN | IFF_NO_PI | IFF_VNET_HDR, true);
    checked("TUNSETIFF", ioctl(descriptor, TUNSETIFF, request.address), options.name);
    configure(options);
    return descriptor;
  } catch (error) {
    close(descriptor);
    throw error;
  }
}

/** Has the kernel hand over super-packets, as many kinds as it knows, or single packets only. */
export function setTunOffloads(descriptor: number, wanted: boolean): TunOffloads {
  if (!wanted) {
    checked("TUNSETOFFLOAD", ioctl(descriptor, TUNSETOFFLOAD, 0));
    return "none";
  }
  const tcp = TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6;
  if (ioctl(descriptor, TUNSETOFFLOAD, tcp | TUN_F_USO4 | TUN_F_USO6) >= 0) return "tcp-udp";
  return ioctl(descriptor, TUNSETOFFLOAD, tcp) >= 0 ? "tcp" : "none";
}

/** The number of the link of a TUN. @throws CoreError ERR_SYSTEM_CALL */
export function tunIndex(descriptor: number): number {
  const request = allocateNative(IFREQ_BYTES);
  checked("TUNGETIFF", ioctl(descriptor, TUNGETIFF, request.address));
  const control = checked("socket", socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  try {
    checked("SIOCGIFINDEX", ioctl(control, SIOCGIFINDEX, request.address));
    return request.view.getInt32(IFNAMSIZ, true);
  } finally {
    close(control);
  }
}

/** By Node: a descriptor of it is one of the system. Non-blocking, so that a loop can read it. */
function openClone(): number {
  try {
    return openSync("/dev/net/tun", constants.O_RDWR | constants.O_NONBLOCK | O_CLOEXEC);
  } catch (cause) {
    throw new CoreError(
      "ERR_NOT_POSSIBLE_HERE",
      `a tunnel needs /dev/net/tun: ${messageOf(cause)}; run as root, with the module tun loaded`,
      { cause },
    );
  }
}

function configure(options: {
  readonly name: string;
  readonly mtu: number;
  readonly addresses: readonly TunAddress[];
}): void {
  const { name } = options;
  const v4 = checked("socket", socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  try {
    const request = requestFor(name);
    request.view.setInt32(IFNAMSIZ, options.mtu, true);
    checked("SIOCSIFMTU", ioctl(v4, SIOCSIFMTU, request.address), `${name} to ${options.mtu}`);
    checked("SIOCGIFFLAGS", ioctl(v4, SIOCGIFFLAGS, request.address), name);
    request.view.setInt16(IFNAMSIZ, request.view.getInt16(IFNAMSIZ, true) | IFF_UP, true);
    checked("SIOCSIFFLAGS", ioctl(v4, SIOCSIFFLAGS, request.address), name);
    for (const address of options.addresses) {
      if (familyOf(address.ip) === "v4") addV4(v4, name, address);
      else addV6(v4, name, address);
    }
  } finally {
    closeSync(v4);
  }
}

function addV4(control: number, name: string, { ip, prefix }: TunAddress): void {
  const request = requestFor(name);
  request.view.setUint16(IFNAMSIZ, AF_INET, true);
  writeIp(ip, request.bytes, IFNAMSIZ + SOCKADDR_IN_ADDRESS);
  checked("SIOCSIFADDR", ioctl(control, SIOCSIFADDR, request.address), `${ip} on ${name}`);
  const mask = prefix === 0 ? 0 : -1 << (32 - prefix);
  request.view.setInt32(IFNAMSIZ + SOCKADDR_IN_ADDRESS, mask);
  checked("SIOCSIFNETMASK", ioctl(control, SIOCSIFNETMASK, request.address), `${ip} on ${name}`);
}

function addV6(control: number, name: string, { ip, prefix }: TunAddress): void {
  const found = requestFor(name);
  checked("SIOCGIFINDEX", ioctl(control, SIOCGIFINDEX, found.address), name);
  const request = allocateNative(IFREQ_BYTES);
  writeIp(ip, request.bytes, 0);
  request.view.setUint32(IN6_PREFIX, prefix, true);
  request.view.setInt32(IN6_INDEX, found.view.getInt32(IFNAMSIZ, true), true);
  const v6 = checked("socket", socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  try {
    checked("SIOCSIFADDR", ioctl(v6, SIOCSIFADDR, request.address), `${ip} on ${name}`);
  } finally {
    closeSync(v6);
  }
}

/** struct ifreq: the name, then what the request is about. */
function requestFor(name: string): ReturnType<typeof allocateNative> {
  const request = allocateNative(IFREQ_BYTES);
  request.bytes.set(Buffer.from(name));
  return request;
}
