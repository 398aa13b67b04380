import type { BpfAssembler } from "../../../platform/linux/bpf/assembler.ts";
import { FLOW_KEY, type KernelPathMaps, ROUTE_KEY, ROUTE_VALUE } from "../layout.ts";
import { lookUp } from "./emit.ts";
import { MEMORY, SCRATCH } from "./scratch.ts";

const V4_BITS = 32;
const V6_BITS = 128;
const V4_ADDRESS_AT = 12;
const ADDRESS_BYTES = 16;

/** r1 is whose an address of `flowKey` is: a peer or THIS_NODE. Goes on at NEXT where it is nobody's. */
export function findRoute(
  assembler: BpfAssembler,
  maps: KernelPathMaps,
  end: "source" | "destination",
): void {
  const addressAt = SCRATCH.flowKey + FLOW_KEY[end];
  const keyAt = SCRATCH.routeKey;
  const isV6 = `route of ${end} is v6`;
  const found = `route of ${end} is found`;
  assembler.load(8, "r1", MEMORY, SCRATCH.flowKey + FLOW_KEY.isV6);
  assembler.jumpIf("notEqual", "r1", 0, isV6);
  assembler.store(32, MEMORY, keyAt + ROUTE_KEY.prefix, V4_BITS);
  assembler.load(32, "r1", MEMORY, addressAt + V4_ADDRESS_AT);
  assembler.store(32, MEMORY, keyAt + ROUTE_KEY.address, "r1");
  lookUp(assembler, maps.routesV4, keyAt);
  assembler.load(32, "r1", "r0", ROUTE_VALUE.peer).jump(found);

  assembler.label(isV6).store(32, MEMORY, keyAt + ROUTE_KEY.prefix, V6_BITS);
  for (let at = 0; at < ADDRESS_BYTES; at += 4) {
    assembler.load(32, "r1", MEMORY, addressAt + at);
    assembler.store(32, MEMORY, keyAt + ROUTE_KEY.address + at, "r1");
  }
  lookUp(assembler, maps.routesV6, keyAt);
  assembler.load(32, "r1", "r0", ROUTE_VALUE.peer).label(found);
}
