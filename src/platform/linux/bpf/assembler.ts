import {
  ALU_OPERATIONS,
  type AluOperation,
  ATOMIC_FETCH,
  ATOMIC_OPERATIONS,
  type AtomicOperation,
  type Bits,
  CALL,
  CONDITIONS,
  type Condition,
  EXIT,
  FROM_REGISTER,
  INSTRUCTION_BYTES,
  type Instruction,
  JUMP_ALWAYS,
  MODE_ATOMIC,
  MODE_MEMORY,
  NEGATE,
  OPCODE_CLASS,
  type Operand,
  putInstruction,
  type Register,
  SIZES,
  SOURCE_LOCAL_CALL,
  SOURCE_MAP_FD,
  SWAP,
} from "./instruction.ts";
import { checkOffset, immediateOf, refused } from "./instruction-limits.ts";

type AluWidth = 32 | 64;

/** How far a label is goes into the offset of a jump, and into the immediate of a call. */
interface LabelUse {
  readonly label: string;
  readonly field: "offset" | "immediate";
}

interface Placed {
  readonly instruction: Instruction;
  readonly use?: LabelUse;
}

/**
 * Builds a program instruction by instruction; jumps name labels, which may stand before or behind:
 *
 *     new BpfAssembler().jumpIf("equal", "r1", 0, "done").move("r1", 1).label("done").exit()
 */
export class BpfAssembler {
  readonly #placed: Placed[] = [];
  readonly #labels = new Map<string, number>();

  /** Names what comes next. @throws CoreError ERR_USAGE where the name is taken */
  label(name: string): this {
    if (this.#labels.has(name)) throw refused(`the label "${name}" stands twice`);
    this.#labels.set(name, this.#placed.length);
    return this;
  }

  alu(
    operation: AluOperation,
    destination: Register,
    operand: Operand,
    width: AluWidth = 64,
  ): this {
    const opcode = aluClass(width) | ALU_OPERATIONS[operation];
    return this.#withOperand(opcode, destination, operand);
  }

  move(destination: Register, operand: Operand): this {
    return this.alu("move", destination, operand);
  }

  negate(register: Register, width: AluWidth = 64): this {
    return this.#add({ opcode: aluClass(width) | NEGATE, destination: register });
  }

  /** From the byte order of the machine to the one named, or back. */
  swap(order: "big" | "little", bits: 16 | 32 | 64, register: Register): this {
    const opcode = OPCODE_CLASS.alu32 | SWAP | (order === "big" ? FROM_REGISTER : 0);
    return this.#add({ opcode, destination: register, immediate: bits });
  }

  load(bits: Bits, destination: Register, source: Register, offset: number): this {
    const opcode = OPCODE_CLASS.loadFrom | MODE_MEMORY | SIZES[bits];
    return this.#add({ opcode, destination, source, offset });
  }

  store(bits: Bits, destination: Register, offset: number, operand: Operand): this {
    const mode = MODE_MEMORY | SIZES[bits];
    if (typeof operand !== "number") {
      const opcode = OPCODE_CLASS.storeRegister | mode;
      return this.#add({ opcode, destination, offset, source: operand });
    }
    const opcode = OPCODE_CLASS.storeImmediate | mode;
    return this.#add({ opcode, destination, offset, immediate: immediateOf(operand) });
  }

  /** All 64 bits of a number; takes two instructions. */
  loadWide(destination: Register, value: bigint): this {
    return this.#addWide(destination, 0, value);
  }

  /** A map of this process, by its descriptor; takes two instructions. */
  loadMap(destination: Register, descriptor: number): this {
    return this.#addWide(destination, SOURCE_MAP_FD, BigInt(descriptor));
  }

  /** With `fetch` the old value comes into `source`; exchanges always do so (a compared one: into r0). */
  atomic(
    operation: AtomicOperation,
    bits: 32 | 64,
    destination: Register,
    offset: number,
    source: Register,
    fetch: "fetch" | "forget" = "forget",
  ): this {
    const opcode = OPCODE_CLASS.storeRegister | MODE_ATOMIC | SIZES[bits];
    const immediate = ATOMIC_OPERATIONS[operation] | (fetch === "fetch" ? ATOMIC_FETCH : 0);
    return this.#add({ opcode, destination, source, offset, immediate });
  }

  jump(label: string): this {
    return this.#add({ opcode: OPCODE_CLASS.jump | JUMP_ALWAYS }, { label, field: "offset" });
  }

  jumpIf(
    condition: Condition,
    register: Register,
    operand: Operand,
    label: string,
    width: AluWidth = 64,
  ): this {
    const kind = width === 64 ? OPCODE_CLASS.jump : OPCODE_CLASS.jump32;
    const opcode = kind | CONDITIONS[condition];
    return this.#withOperand(opcode, register, operand, { label, field: "offset" });
  }

  /** A function of the kernel, by its number: bpf-helpers(7). */
  call(helper: number): this {
    return this.#add({ opcode: OPCODE_CLASS.jump | CALL, immediate: helper });
  }

  /** A function of this program, which begins at a label and ends with `exit`. */
  callLocal(label: string): this {
    const opcode = OPCODE_CLASS.jump | CALL;
    return this.#add({ opcode, source: SOURCE_LOCAL_CALL }, { label, field: "immediate" });
  }

  exit(): this {
    return this.#add({ opcode: OPCODE_CLASS.jump | EXIT });
  }

  /** @throws CoreError ERR_USAGE where a label is not there, or too far away */
  assemble(): Uint8Array {
    const bytes = new Uint8Array(this.#placed.length * INSTRUCTION_BYTES);
    const view = new DataView(bytes.buffer);
    for (const [index, { instruction, use }] of this.#placed.entries()) {
      const distance = use && this.#distance(use, index);
      const resolved = use ? { ...instruction, [use.field]: distance } : instruction;
      putInstruction(view, index * INSTRUCTION_BYTES, resolved);
    }
    return bytes;
  }

  /** Counted from the instruction behind the one that leads there. */
  #distance({ label, field }: LabelUse, from: number): number {
    const at = this.#labels.get(label);
    if (at === undefined) throw refused(`there is no label "${label}"`);
    const distance = at - from - 1;
    if (field === "offset") checkOffset(distance, `the jump to "${label}"`);
    return distance;
  }

  #withOperand(opcode: number, destination: Register, operand: Operand, use?: LabelUse): this {
    if (typeof operand !== "number") {
      return this.#add({ opcode: opcode | FROM_REGISTER, destination, source: operand }, use);
    }
    return this.#add({ opcode, destination, immediate: immediateOf(operand) }, use);
  }

  #addWide(destination: Register, source: number, value: bigint): this {
    const opcode = OPCODE_CLASS.load | SIZES[64];
    this.#add({ opcode, destination, source, immediate: Number(BigInt.asIntN(32, value)) });
    return this.#add({ opcode: 0, immediate: Number(BigInt.asIntN(32, value >> 32n)) });
  }

  #add(instruction: Instruction, use?: LabelUse): this {
    checkOffset(instruction.offset ?? 0, "the offset");
    this.#placed.push({ instruction, ...(use && { use }) });
    return this;
  }
}

function aluClass(width: AluWidth): number {
  return width === 64 ? OPCODE_CLASS.alu64 : OPCODE_CLASS.alu32;
}
