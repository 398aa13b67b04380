/** Both programs of the fast path, with maps of their own, run on packets that are given to them. */
import { closeSync } from "node:fs";
import { release } from "node:os";
import type { TestOptions } from "vitest";
import type { Family } from "../../../core/model/address.ts";
import { ATTRIBUTE_BYTES, bpf } from "../bpf/bpf-call.ts";
import { BpfMap } from "../bpf/bpf-map.ts";
import {
  ATTACH_TYPE,
  BPF_COMMAND,
  PACKET_CONTEXT,
  PROGRAM_TYPE,
  VERDICT,
} from "../bpf/bpf-numbers.ts";
import { loadProgram } from "../bpf/bpf-program.ts";
import { allocateNative, putPointer } from "../native-memory.ts";
import { possibleProcessors } from "../possible-processors.ts";
import { checked } from "../system-error.ts";
import type { FastFlow, TakenFlow } from "./fast-flow.ts";
import { FastMaps } from "./fast-maps.ts";
import { forwardingProgram } from "./forwarding-program.ts";
import { TRAIL } from "./layout.ts";
import { learningProgram } from "./learning-program.ts";

/** Of struct __sk_buff, what a test run takes from outside. */
export interface PacketContext {
  readonly mark?: number;
  readonly priority?: number;
  readonly cameBy?: number;
  readonly gsoBytes?: number;
  /**
   * As from a card that gives the sum of all bytes: where that is not right afterwards, the run fails with EBADMSG.
   * Tests that say so need `requiresSums`.
   */
  readonly hasSum?: boolean;
}

export interface PacketRun {
  /** With its sign. */
  readonly verdict: number;
  /** As hexadecimal digits. */
  readonly frame: string;
  readonly mark: number;
  readonly priority: number;
}

/** The link that test runs take where nothing else is said: the loopback one. */
export const LINK = 1;
const ROOM_BYTES = 4096;
/** BPF_PROG_TEST_RUN: where in its arguments a field is. */
const RUN = {
  program: 0,
  verdict: 4,
  inputBytes: 8,
  outputBytes: 12,
  input: 16,
  output: 24,
  repeat: 32,
  contextBytes: 40,
  contextOutputBytes: 44,
  context: 48,
  contextOutput: 56,
  flags: 64,
  bytes: 80,
} as const;
/** BPF_F_TEST_SKB_CHECKSUM_COMPLETE. */
const HAS_SUM = 4;
const AN_HOUR_NS = 3_600_000_000_000n;
const FIRST = new Uint8Array(4);
/** Packets of connections that are not known are noted by chance. */
const MOST_TRIES = 200;

/** Options of a test that has sums of cards looked at, which kernels can from 6.16 on. */
export function requiresSums(): TestOptions {
  const [major = 0, minor = 0] = release()
    .split(".")
    .map((part) => Number.parseInt(part, 10));
  if (major > 6 || (major === 6 && minor >= 16)) return {};
  return { skip: true, meta: { skipReason: "needs Linux 6.16 (boot that or a newer one)" } };
}

export class FastPrograms {
  readonly maps: FastMaps = new FastMaps();
  readonly #forwarding: number;
  readonly #learning: number;
  readonly #trail: BpfMap;

  constructor() {
    const { descriptors } = this.maps;
    const { tcxEgress, tcxIngress } = ATTACH_TYPE;
    this.#forwarding = load(forwardingProgram(descriptors), tcxIngress);
    this.#learning = load(learningProgram(descriptors), tcxEgress);
    const valueBytes = possibleProcessors() * TRAIL.bytes;
    this.#trail = new BpfMap(descriptors.trail, { keyBytes: FIRST.length, valueBytes });
  }

  /** It takes the path from now on, as if it never had before. */
  lease(flow: FastFlow, forNs: bigint = AN_HOUR_NS): void {
    this.maps.remove([flow]);
    this.maps.admit(flow, process.hrtime.bigint() + forNs);
  }

  taken(family: Family): readonly TakenFlow[] {
    return this.maps.taken().filter((flow) => flow.family === family);
  }

  /** What comes in by a link. */
  comes(frame: Uint8Array, context: PacketContext = {}): PacketRun {
    return run(this.#forwarding, frame, context);
  }

  /** What goes out by a link, after it came by one. */
  leaves(frame: Uint8Array, context: PacketContext = {}): PacketRun {
    return run(this.#learning, frame, { cameBy: LINK, ...context });
  }

  /** The packet comes, again and again, until it is noted; by all processors, whichever is the next one to run. */
  note(frame: Uint8Array): void {
    this.#trail.set(FIRST, new Uint8Array(possibleProcessors() * TRAIL.bytes));
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const { verdict } = this.comes(frame);
      if (verdict !== VERDICT.next) throw new Error(`it did not go by the rules: ${verdict}`);
      if (this.spreadNote()) return;
    }
    throw new Error("it was not noted");
  }

  /** What one processor noted, all did then. @returns whether there is such a one */
  spreadNote(): boolean {
    const note = this.notes().find((bytes) => bytes.readUInt32LE(TRAIL.length) !== 0);
    if (note === undefined) return false;
    this.noteOtherwise((other) => void note.copy(other));
    return true;
  }

  /** Changes what each processor noted. */
  noteOtherwise(change: (note: Buffer) => void): void {
    const notes = this.notes();
    for (const note of notes) change(note);
    this.#trail.set(FIRST, Buffer.concat(notes));
  }

  /** Of each processor. */
  notes(): readonly Buffer[] {
    const all = Buffer.from(this.#trail.get(FIRST) ?? []);
    const { bytes } = TRAIL;
    return Array.from({ length: possibleProcessors() }, (_, index) =>
      all.subarray(index * bytes, (index + 1) * bytes),
    );
  }

  close(): void {
    closeSync(this.#forwarding);
    closeSync(this.#learning);
    this.maps.close();
  }
}

function load(instructions: Uint8Array, attachType: number): number {
  const type = PROGRAM_TYPE.schedClassifier;
  return loadProgram({ name: "tested", type, attachType, instructions });
}

/** As `runProgram`, and what the program left in its context. */
function run(program: number, frame: Uint8Array, given: PacketContext): PacketRun {
  const input = allocateNative(frame.length);
  input.bytes.set(frame);
  const output = allocateNative(ROOM_BYTES);
  const context = allocateNative(PACKET_CONTEXT.bytes);
  context.view.setUint32(PACKET_CONTEXT.mark, given.mark ?? 0, true);
  context.view.setUint32(PACKET_CONTEXT.priority, given.priority ?? 0, true);
  context.view.setUint32(PACKET_CONTEXT.cameBy, given.cameBy ?? 0, true);
  context.view.setUint32(PACKET_CONTEXT.gsoBytes, given.gsoBytes ?? 0, true);
  const left = allocateNative(PACKET_CONTEXT.bytes);
  const attributes = allocateNative(ATTRIBUTE_BYTES);
  const { view } = attributes;
  view.setUint32(RUN.program, program, true);
  view.setUint32(RUN.inputBytes, frame.length, true);
  view.setUint32(RUN.outputBytes, ROOM_BYTES, true);
  putPointer(view, RUN.input, input.address);
  putPointer(view, RUN.output, output.address);
  view.setUint32(RUN.repeat, 1, true);
  view.setUint32(RUN.contextBytes, PACKET_CONTEXT.bytes, true);
  view.setUint32(RUN.contextOutputBytes, PACKET_CONTEXT.bytes, true);
  putPointer(view, RUN.context, context.address);
  putPointer(view, RUN.contextOutput, left.address);
  view.setUint32(RUN.flags, given.hasSum ? HAS_SUM : 0, true);
  checked("bpf", bpf(BPF_COMMAND.programTestRun, attributes, RUN.bytes), "a test run");
  const byteCount = view.getUint32(RUN.outputBytes, true);
  return {
    verdict: view.getInt32(RUN.verdict, true),
    frame: Buffer.from(output.bytes.subarray(0, byteCount)).toString("hex"),
    mark: left.view.getUint32(PACKET_CONTEXT.mark, true),
    priority: left.view.getUint32(PACKET_CONTEXT.priority, true),
  };
}
