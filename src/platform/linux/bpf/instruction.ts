/** Instructions of eBPF as bytes: RFC 9669, and linux/bpf.h for what is asked of the kernel. */

/** `r0` holds results, `r1` to `r5` arguments; `r6` to `r9` outlive calls; `r10` is the frame, read only. */
export type Register = "r0" | "r1" | "r2" | "r3" | "r4" | "r5" | "r6" | "r7" | "r8" | "r9" | "r10";

/** Numbers are immediates: 32 bits, with their sign carried on into 64. */
export type Operand = Register | number;

export type Bits = 8 | 16 | 32 | 64;

export type AluOperation = keyof typeof ALU_OPERATIONS;
export type Condition = keyof typeof CONDITIONS;
export type AtomicOperation = keyof typeof ATOMIC_OPERATIONS;

export interface Instruction {
  readonly opcode: number;
  readonly destination?: Register;
  readonly source?: Register | number;
  readonly offset?: number;
  readonly immediate?: number;
}

export const INSTRUCTION_BYTES = 8;

/** The lowest three bits of an opcode. */
export const OPCODE_CLASS = {
  load: 0x00,
  loadFrom: 0x01,
  storeImmediate: 0x02,
  storeRegister: 0x03,
  alu32: 0x04,
  jump: 0x05,
  jump32: 0x06,
  alu64: 0x07,
} as const;

/** The operand is a register; else the immediate. Of byte swaps: to big endian; else to little. */
export const FROM_REGISTER = 0x08;
export const MODE_MEMORY = 0x60;
export const MODE_ATOMIC = 0xc0;
export const SIZES: Readonly<Record<Bits, number>> = { 8: 0x10, 16: 0x08, 32: 0x00, 64: 0x18 };

export const ALU_OPERATIONS = {
  add: 0x00,
  subtract: 0x10,
  multiply: 0x20,
  divide: 0x30,
  or: 0x40,
  and: 0x50,
  shiftLeft: 0x60,
  shiftRight: 0x70,
  modulo: 0x90,
  xor: 0xa0,
  move: 0xb0,
  /** Keeps the sign. */
  shiftRightSigned: 0xc0,
} as const;

export const NEGATE = 0x80;
export const SWAP = 0xd0;

/** Unsigned, but for those that say otherwise. */
export const CONDITIONS = {
  equal: 0x10,
  above: 0x20,
  aboveOrEqual: 0x30,
  /** Any bit in common. */
  anyBit: 0x40,
  notEqual: 0x50,
  signedAbove: 0x60,
  signedAboveOrEqual: 0x70,
  below: 0xa0,
  belowOrEqual: 0xb0,
  signedBelow: 0xc0,
  signedBelowOrEqual: 0xd0,
} as const;

export const JUMP_ALWAYS = 0x00;
export const CALL = 0x80;
export const EXIT = 0x90;

/** What the immediate of an atomic operation holds; the lowest bit gives the old value back, as exchanges do. */
export const ATOMIC_FETCH = 0x01;
export const ATOMIC_OPERATIONS = {
  add: 0x00,
  or: 0x40,
  and: 0x50,
  xor: 0xa0,
  exchange: 0xe1,
  /** Compares with `r0`, and leaves the old value there. */
  compareExchange: 0xf1,
} as const;

/** What the source of a 64-bit immediate or of a call means. */
export const SOURCE_MAP_FD = 1;
export const SOURCE_LOCAL_CALL = 1;

const HIGHEST_REGISTER = 10;
const REGISTERS: readonly string[] = Array.from(
  { length: HIGHEST_REGISTER + 1 },
  (_, number) => `r${number}`,
);

export function putInstruction(view: DataView, at: number, instruction: Instruction): void {
  const { opcode, destination = "r0", source = 0, offset = 0, immediate = 0 } = instruction;
  const from = typeof source === "number" ? source : REGISTERS.indexOf(source);
  view.setUint8(at, opcode);
  view.setUint8(at + 1, (from << 4) | REGISTERS.indexOf(destination));
  view.setInt16(at + 2, offset, true);
  view.setInt32(at + 4, immediate, true);
}
