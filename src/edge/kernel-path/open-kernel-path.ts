import { CoreError } from "../../core/errors.ts";
import { isWildcard } from "../../core/model/address.ts";
import { createLink } from "../../platform/linux/bpf/bpf-link.ts";
import { ATTACH_TYPE, PROGRAM_TYPE } from "../../platform/linux/bpf/bpf-numbers.ts";
import { loadProgram } from "../../platform/linux/bpf/bpf-program.ts";
import { close } from "../../platform/linux/io-calls.ts";
import { WayFinder } from "../../platform/linux/links/way-finder.ts";
import { ipv4Number } from "../../platform/linux/sockaddr.ts";
import { localAddressOf } from "../../platform/linux/socket-names.ts";
import { tunIndex } from "../../platform/linux/tun-device.ts";
import { BpfKernelMaps } from "./kernel-maps.ts";
import { type KernelParts, KernelPath, type KernelPathOptions } from "./kernel-path.ts";
import { assembleReceiving } from "./program/receiving.ts";
import { SCRATCH_BYTES } from "./program/scratch.ts";
import { assembleSending } from "./program/sending.ts";

interface KernelPartsOptions {
  /** Descriptors, of others. */
  readonly tun: number;
  readonly udp: number;
  readonly maxFlows: number;
}

/** @throws CoreError ERR_SYSTEM_CALL, ERR_NOT_POSSIBLE_HERE where this machine can not do it */
export function openKernelPath(
  from: KernelPartsOptions,
  options: Omit<KernelPathOptions, "parts" | "nowNs">,
): KernelPath {
  // The clock of both is CLOCK_MONOTONIC.
  const nowNs = (): number => Number(process.hrtime.bigint());
  return new KernelPath({ ...options, nowNs, parts: openKernelParts(from) });
}

/**
 * Makes the maps, has the kernel check the programs, and attaches the sending one to the TUN. All of it ends with the
 * descriptors of this process.
 * @throws CoreError ERR_SYSTEM_CALL, ERR_NOT_POSSIBLE_HERE
 */
function openKernelParts({ tun, udp, maxFlows }: KernelPartsOptions): KernelParts {
  const closers: (() => void)[] = [];
  const closeAll = (): void => {
    for (const closer of closers.splice(0).reverse()) closer();
  };
  const held = (descriptor: number): number => {
    closers.push(() => close(descriptor));
    return descriptor;
  };
  try {
    const { ip, port } = boundTo(udp);
    const maps = new BpfKernelMaps({ maxFlows, scratchBytes: SCRATCH_BYTES });
    closers.push(() => maps.close());
    const finder = new WayFinder();
    closers.push(() => finder.close());
    const link = tunIndex(tun);
    const { tcxEgress, tcxIngress } = ATTACH_TYPE;
    const sending = load("portolan_send", tcxEgress, assembleSending(maps.descriptors));
    const receiving = held(
      load("portolan_receive", tcxIngress, assembleReceiving(maps.descriptors)),
    );
    const egress = attachOnce(sending, link);
    closers.push(() => egress());
    return {
      maps,
      tun: link,
      localPort: port,
      wayTo: (to) => finder.find(to, ip),
      attach: (target) => {
        const descriptor = createLink({ program: receiving, target, attachType: tcxIngress });
        return () => close(descriptor);
      },
      detachAll: egress,
      close: closeAll,
    };
  } catch (error) {
    closeAll();
    throw error;
  }
}

/** The link holds the program. */
function attachOnce(program: number, target: number): () => void {
  try {
    let link = createLink({ program, target, attachType: ATTACH_TYPE.tcxEgress });
    return () => {
      if (link >= 0) close(link);
      link = -1;
    };
  } finally {
    close(program);
  }
}

function load(name: string, attachType: number, instructions: Uint8Array): number {
  return loadProgram({ name, type: PROGRAM_TYPE.schedClassifier, attachType, instructions });
}

/** The port of the tunnel, and the address that it is bound to as a number; 0 where that is any. */
function boundTo(udp: number): { readonly ip: number; readonly port: number } {
  const address = localAddressOf(udp);
  if (address.family === "unix") throw notIpv4("no socket of UDP");
  if (isWildcard(address.ip)) return { ip: 0, port: address.port };
  if (address.family !== "v4") throw notIpv4(`bound to ${address.ip}`);
  return { ip: ipv4Number(address.ip), port: address.port };
}

function notIpv4(reason: string): CoreError {
  return new CoreError("ERR_NOT_POSSIBLE_HERE", `the kernel path needs IPv4: ${reason}`);
}
