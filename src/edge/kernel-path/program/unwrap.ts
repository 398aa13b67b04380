import type { BpfAssembler } from "../../../platform/linux/bpf/assembler.ts";
import { HELPER } from "../../../platform/linux/bpf/bpf-numbers.ts";
import {
  COUNTS,
  FLOW_KEY,
  type KernelPathMaps,
  MAX_SHORT_BYTES,
  MODE_FAST,
  RECORD,
} from "../layout.ts";
import {
  adjustRoom,
  count,
  countPacket,
  FAILED,
  loadBounded,
  loadPacketBytes,
  storeBytes,
} from "./emit.ts";
import { CONTEXT, MEMORY, SCRATCH } from "./scratch.ts";
import { ETHERNET_BYTES, FAST, SECURE } from "./wire-lengths.ts";

export const UNWRAP = "unwrap";
/** BPF_F_ADJ_ROOM_DECAP_L3_IPV6 is 1 << 8: what is left is IPv6. */
const IS_V6_SHIFT = 8;
/** BPF_F_INGRESS of `redirect`: as if it came in there. */
const INGRESS = 1;
/** Any other length than it has. */
const GROWN_BYTES = 16;

/** Makes the packet in `packet` out of the datagram, and gives it to the machine by the TUN. */
export function emitUnwrap(assembler: BpfAssembler, maps: KernelPathMaps): void {
  assembler.label(UNWRAP);
  // A network card may have summed up the datagram. What grows has no sum any more: the new bytes have none.
  loadPacketBytes(assembler, "r2");
  assembler.alu("add", "r2", GROWN_BYTES);
  changeTail(assembler);
  assembler.load(32, "r1", MEMORY, SCRATCH.mode).move("r2", -FAST.outerBytes);
  assembler.jumpIf("equal", "r1", MODE_FAST, "outer length").move("r2", -SECURE.outerBytes);
  assembler.label("outer length").load(8, "r4", MEMORY, SCRATCH.flowKey + FLOW_KEY.isV6);
  assembler.alu("shiftLeft", "r4", IS_V6_SHIFT);
  adjustRoom(assembler);
  assembler.load(32, "r2", MEMORY, SCRATCH.packetBytes).alu("add", "r2", ETHERNET_BYTES);
  changeTail(assembler);
  loadBounded(assembler, "r4", SCRATCH.packetBytes, MAX_SHORT_BYTES, FAILED);
  storeBytes(assembler, ETHERNET_BYTES, SCRATCH.packet);
  countPacket(assembler, RECORD.packetsIn, RECORD.bytesIn);
  count(assembler, maps, COUNTS.received, "received counted");
  assembler.load(32, "r1", MEMORY, SCRATCH.tun).move("r2", INGRESS).call(HELPER.redirect).exit();
}

/** To the length in r2. */
function changeTail(assembler: BpfAssembler): void {
  assembler.move("r1", CONTEXT).move("r3", 0).call(HELPER.changeTail);
  assembler.jumpIf("notEqual", "r0", 0, FAILED);
}
