import { allocateNative } from "../native-memory.ts";
import { checked } from "../system-error.ts";
import { ATTRIBUTE_BYTES, bpf } from "./bpf-call.ts";
import { BPF_COMMAND } from "./bpf-numbers.ts";

export interface LinkPlace {
  readonly program: number;
  /** Descriptor of a cgroup, or index of an interface (tcx). */
  readonly target: number;
  readonly attachType: number;
}

/** Where in the arguments of a command a field is; flags and what stands behind them are 0. */
const LINK = { program: 0, target: 4, attachType: 8, bytes: 64 } as const;

/**
 * BPF_LINK_CREATE of bpf(2): a descriptor. The program works where it is put, beside those of others,
 * until the descriptor is closed, however that comes.
 * @throws CoreError ERR_SYSTEM_CALL
 */
export function createLink({ program, target, attachType }: LinkPlace): number {
  const attributes = allocateNative(ATTRIBUTE_BYTES);
  const { view } = attributes;
  view.setUint32(LINK.program, program, true);
  view.setUint32(LINK.target, target, true);
  view.setUint32(LINK.attachType, attachType, true);
  const result = bpf(BPF_COMMAND.linkCreate, attributes, LINK.bytes);
  return checked("bpf", result, `a link of type ${attachType}`);
}
