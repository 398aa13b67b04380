/** What others, or this process, put into the kernel: found by its number, and described. */
import { closeSync } from "node:fs";
import { ERRNO } from "../../errno.ts";
import { allocateNative, type NativeMemory, putPointer } from "../native-memory.ts";
import { checked } from "../system-error.ts";
import { ATTRIBUTE_BYTES, bpf } from "./bpf-call.ts";
import { BPF_COMMAND, NAME_BYTES } from "./bpf-numbers.ts";

export interface ProgramFacts {
  readonly id: number;
  readonly name: string;
  readonly mapIds: readonly number[];
}

export interface MapFacts {
  readonly name: string;
  readonly type: number;
  readonly keyBytes: number;
  readonly valueBytes: number;
  readonly maxEntries: number;
}

/** Where in the arguments of a command a field is. */
const QUERY = { target: 0, attachType: 4, flags: 8, programIds: 16, count: 24, bytes: 64 } as const;
const NEXT = { after: 0, id: 4 } as const;
const INFO = { descriptor: 0, bytes: 4, address: 8, all: 16 } as const;
/** Where in what is told (struct bpf_prog_info, bpf_map_info, bpf_link_info) a field is. */
const PROGRAM = { id: 4, mapCount: 52, mapIds: 56, name: 64 } as const;
const MAP = { type: 0, keyBytes: 8, valueBytes: 12, maxEntries: 16, name: 24 } as const;
const LINK = { type: 0, program: 8, cgroup: 16, attachType: 24 } as const;

/** BPF_LINK_TYPE_CGROUP */
const CGROUP_LINK = 3;

/** Those of above cgroups count, too. */
const BPF_F_QUERY_EFFECTIVE = 1;
const FACT_BYTES = 96;
const MOST_PROGRAMS = 64;
const MOST_MAPS = 64;
const ID_BYTES = 4;

/**
 * BPF_PROG_QUERY of bpf(2): the numbers of the programs that work for a cgroup, in their order.
 * @param reach `own`: those that are attached to itself, not to one above it
 * @throws CoreError ERR_SYSTEM_CALL
 */
export function programsOf(
  cgroup: number,
  attachType: number,
  reach: "effective" | "own" = "effective",
): readonly number[] {
  return query(cgroup, attachType, reach === "effective" ? BPF_F_QUERY_EFFECTIVE : 0);
}

/** The same for a link of the network, by its number: those of type tcx. @throws CoreError ERR_SYSTEM_CALL */
export function programsOfLink(link: number, attachType: number): readonly number[] {
  return query(link, attachType, 0);
}

function query(target: number, attachType: number, flags: number): readonly number[] {
  const ids = allocateNative(MOST_PROGRAMS * ID_BYTES);
  const attributes = allocateNative(ATTRIBUTE_BYTES);
  const { view } = attributes;
  view.setUint32(QUERY.target, target, true);
  view.setUint32(QUERY.attachType, attachType, true);
  view.setUint32(QUERY.flags, flags, true);
  putPointer(view, QUERY.programIds, ids.address);
  view.setUint32(QUERY.count, MOST_PROGRAMS, true);
  const result = bpf(BPF_COMMAND.programQuery, attributes, QUERY.bytes);
  checked("bpf", result, `the programs of ${target}`);
  return idsIn(ids, Math.min(view.getUint32(QUERY.count, true), MOST_PROGRAMS));
}

/** BPF_PROG_GET_FD_BY_ID of bpf(2): a descriptor. @throws CoreError ERR_SYSTEM_CALL */
export function openProgram(id: number): number {
  return byId(BPF_COMMAND.programById, id, `program ${id}`);
}

/** BPF_MAP_GET_FD_BY_ID of bpf(2): a descriptor. @throws CoreError ERR_SYSTEM_CALL */
export function openMap(id: number): number {
  return byId(BPF_COMMAND.mapById, id, `map ${id}`);
}

/** BPF_OBJ_GET_INFO_BY_FD of bpf(2). @throws CoreError ERR_SYSTEM_CALL */
export function programFacts(descriptor: number): ProgramFacts {
  const ids = allocateNative(MOST_MAPS * ID_BYTES);
  const facts = allocateNative(FACT_BYTES);
  facts.view.setUint32(PROGRAM.mapCount, MOST_MAPS, true);
  putPointer(facts.view, PROGRAM.mapIds, ids.address);
  describe(descriptor, facts);
  const count = Math.min(facts.view.getUint32(PROGRAM.mapCount, true), MOST_MAPS);
  return {
    id: facts.view.getUint32(PROGRAM.id, true),
    name: nameIn(facts, PROGRAM.name),
    mapIds: idsIn(ids, count),
  };
}

/** BPF_OBJ_GET_INFO_BY_FD of bpf(2). @throws CoreError ERR_SYSTEM_CALL */
export function mapFacts(descriptor: number): MapFacts {
  const facts = allocateNative(FACT_BYTES);
  describe(descriptor, facts);
  const word = (offset: number) => facts.view.getUint32(offset, true);
  return {
    name: nameIn(facts, MAP.name),
    type: word(MAP.type),
    keyBytes: word(MAP.keyBytes),
    valueBytes: word(MAP.valueBytes),
    maxEntries: word(MAP.maxEntries),
  };
}

/**
 * BPF_OBJ_GET_INFO_BY_FD of bpf(2): the number of the cgroup that a link is at; undefined where it is at
 * none any more.
 * @throws CoreError ERR_SYSTEM_CALL
 */
export function cgroupOfLink(descriptor: number): bigint | undefined {
  const id = factsOfLink(descriptor).view.getBigUint64(LINK.cgroup, true);
  return id === 0n ? undefined : id;
}

/**
 * BPF_LINK_GET_NEXT_ID of bpf(2): the numbers of all programs that are attached so to any cgroup that is there.
 * @throws CoreError ERR_SYSTEM_CALL
 */
export function* programsOfCgroups(attachType: number): Generator<number> {
  for (const id of linkIds()) {
    const attributes = allocateNative(ATTRIBUTE_BYTES);
    attributes.view.setUint32(0, id, true);
    const descriptor = bpf(BPF_COMMAND.linkById, attributes);
    // It went meanwhile.
    if (descriptor === -ERRNO.ENOENT) continue;
    checked("bpf", descriptor, `link ${id}`);
    const { view } = factsOfLink(descriptor);
    closeSync(descriptor);
    if (view.getUint32(LINK.type, true) !== CGROUP_LINK) continue;
    if (view.getUint32(LINK.attachType, true) !== attachType) continue;
    if (view.getBigUint64(LINK.cgroup, true) !== 0n) yield view.getUint32(LINK.program, true);
  }
}

function* linkIds(): Generator<number> {
  const attributes = allocateNative(ATTRIBUTE_BYTES);
  const { view } = attributes;
  for (;;) {
    const result = bpf(BPF_COMMAND.linkNextId, attributes);
    if (result === -ERRNO.ENOENT) return;
    checked("bpf", result, "a walk over all links");
    const id = view.getUint32(NEXT.id, true);
    view.setUint32(NEXT.after, id, true);
    yield id;
  }
}

function factsOfLink(descriptor: number): NativeMemory {
  const facts = allocateNative(FACT_BYTES);
  describe(descriptor, facts);
  return facts;
}

function byId(command: number, id: number, subject: string): number {
  const attributes = allocateNative(ATTRIBUTE_BYTES);
  attributes.view.setUint32(0, id, true);
  return checked("bpf", bpf(command, attributes), subject);
}

function describe(descriptor: number, facts: NativeMemory): void {
  const attributes = allocateNative(ATTRIBUTE_BYTES);
  attributes.view.setUint32(INFO.descriptor, descriptor, true);
  attributes.view.setUint32(INFO.bytes, FACT_BYTES, true);
  putPointer(attributes.view, INFO.address, facts.address);
  checked("bpf", bpf(BPF_COMMAND.objectInfo, attributes, INFO.all), "the facts of an object");
}

function idsIn({ view }: NativeMemory, count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => view.getUint32(index * ID_BYTES, true));
}

function nameIn({ bytes }: NativeMemory, offset: number): string {
  const name = Buffer.from(bytes.subarray(offset, offset + NAME_BYTES)).toString("latin1");
  return name.split("\0")[0] ?? "";
}
