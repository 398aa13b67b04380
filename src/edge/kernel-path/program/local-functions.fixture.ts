/** Runs local functions of programs on scratch memory that a test fills, and hands it back. */
import { closeSync } from "node:fs";
import { BpfAssembler } from "../../../platform/linux/bpf/assembler.ts";
import { BpfMap, createMap } from "../../../platform/linux/bpf/bpf-map.ts";
import {
  ATTACH_TYPE,
  HELPER,
  MAP_TYPE,
  PROGRAM_TYPE,
} from "../../../platform/linux/bpf/bpf-numbers.ts";
import { loadProgram, runProgram } from "../../../platform/linux/bpf/bpf-program.ts";
import type { Register } from "../../../platform/linux/bpf/instruction.ts";
import { SCRATCH_BYTES } from "./scratch.ts";

const FRAME_BYTES = 14;
const KEY_AT = -4;
const MEMORY = "r8";

/** Two parts: the code that calls functions with r8 as the memory, and the functions. */
export interface LocalFunctions {
  calls(assembler: BpfAssembler, memory: Register): unknown;
  functions(assembler: BpfAssembler): void;
}

/** A program that loads memory from the packet, works on it, and writes it back. */
export class LocalRunner {
  readonly #program: number;
  readonly #map: BpfMap;

  constructor({ calls, functions }: LocalFunctions) {
    const sizes = { keyBytes: 4, valueBytes: SCRATCH_BYTES };
    const map = createMap({ name: "memory", type: MAP_TYPE.array, maxEntries: 1, ...sizes });
    this.#map = new BpfMap(map, sizes);
    const assembler = new BpfAssembler().move("r6", "r1").store(32, "r10", KEY_AT, 0);
    assembler.loadMap("r1", map).move("r2", "r10").alu("add", "r2", KEY_AT);
    assembler.call(HELPER.mapLookup).jumpIf("equal", "r0", 0, "failed").move(MEMORY, "r0");
    assembler.move("r1", "r6").move("r2", FRAME_BYTES).move("r3", MEMORY);
    assembler.move("r4", SCRATCH_BYTES).call(HELPER.loadBytes);
    assembler.jumpIf("notEqual", "r0", 0, "failed");
    calls(assembler, MEMORY);
    assembler.move("r9", "r0").move("r1", "r6").move("r2", FRAME_BYTES).move("r3", MEMORY);
    assembler.move("r4", SCRATCH_BYTES).move("r5", 0).call(HELPER.storeBytes);
    assembler.move("r0", "r9").exit().label("failed").move("r0", -1).exit();
    functions(assembler);
    this.#program = loadProgram({
      name: "local_functions",
      type: PROGRAM_TYPE.schedClassifier,
      attachType: ATTACH_TYPE.tcxIngress,
      instructions: assembler.assemble(),
    });
  }

  run(memory: Uint8Array, repeat = 1): { returned: number; memory: Buffer; durationNs: number } {
    const packet = Buffer.concat([Buffer.alloc(FRAME_BYTES), memory]);
    const { returned, output, durationNs } = runProgram(this.#program, packet, packet.length, {
      repeat,
    });
    return { returned, memory: Buffer.from(output.subarray(FRAME_BYTES)), durationNs };
  }

  close(): void {
    closeSync(this.#program);
    this.#map.close();
  }
}
