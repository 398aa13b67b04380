import { closeSync, mkdirSync, openSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { requires } from "../../../../test/support/requires.ts";
import { findCgroupMount } from "../cgroup-mount.ts";
import { BpfAssembler } from "./assembler.ts";
import { createLink } from "./bpf-link.ts";
import { BpfMap, type BpfMapOptions, createMap } from "./bpf-map.ts";
import {
  ATTACH_TYPE,
  BPF_COMMAND,
  BPF_F_NO_PREALLOC,
  HELPER,
  MAP_TYPE,
  PROGRAM_TYPE,
} from "./bpf-numbers.ts";
import { mapFacts, openMap, openProgram, programFacts, programsOf } from "./bpf-objects.ts";
import { loadProgram, runProgram } from "./bpf-program.ts";
import { type MapEntry, readBatches } from "./map-batches.ts";

const SIZES = { keyBytes: 4, valueBytes: 8 } as const;

function number(value: number, byteCount: number): Uint8Array {
  const bytes = new Uint8Array(byteCount);
  new DataView(bytes.buffer).setUint32(0, value, true);
  return bytes;
}

const key = (value: number) => number(value, SIZES.keyBytes);
const value = (one: number) => number(one, SIZES.valueBytes);

function numbersMap(maxEntries: number): BpfMap {
  return openedMap({ type: MAP_TYPE.hash, flags: BPF_F_NO_PREALLOC, maxEntries });
}

function openedMap(options: Pick<BpfMapOptions, "type" | "flags" | "maxEntries">): BpfMap {
  const map = new BpfMap(createMap({ ...SIZES, name: "numbers", ...options }), SIZES);
  onTestFinished(() => map.close());
  return map;
}

/** As many, in the order of their keys. */
function numbered(count: number): MapEntry[] {
  return Array.from({ length: count }, (_, one) => [key(one), value(one * 2)]);
}

function sorted(entries: Iterable<MapEntry>): MapEntry[] {
  const numberOf = ([bytes]: MapEntry) => new DataView(bytes.buffer).getUint32(0, true);
  return [...entries].sort((a, b) => numberOf(a) - numberOf(b));
}

function load(assembler: BpfAssembler): number {
  const program = loadProgram({
    name: "tested",
    type: PROGRAM_TYPE.schedClassifier,
    attachType: ATTACH_TYPE.tcxIngress,
    instructions: assembler.assemble(),
  });
  onTestFinished(() => closeSync(program));
  return program;
}

describe("bpf(2)", requires("linux", "root"), () => {
  test("entries come, are replaced, are found and go", () => {
    const map = numbersMap(10);
    expect(map.get(key(1))).toBeUndefined();
    map.set(key(1), value(10));
    map.set(key(1), value(11));
    map.set(key(2), value(20));
    expect(map.get(key(1))).toEqual(value(11));
    expect([...map.keys()].map((one) => one[0]).sort()).toEqual([1, 2]);
    map.delete(key(1));
    map.delete(key(1));
    expect([...map.keys()]).toEqual([key(2)]);
  });

  test("many entries at once, more than one call takes; absent ones go without a word", () => {
    const map = numbersMap(3000);
    map.setAll(numbered(2500));
    expect([...map.keys()]).toHaveLength(2500);
    expect(map.get(key(2499))).toEqual(value(4998));
    map.deleteAll([key(9000), key(0), key(9001), key(1), key(9002)]);
    expect([...map.keys()]).toHaveLength(2498);
    map.deleteAll(Array.from({ length: 2500 }, (_, one) => key(one)));
    expect([...map.keys()]).toEqual([]);
  });

  test("all entries are read in batches, while the map is asked for others", () => {
    const map = numbersMap(5000);
    expect([...map.entries()]).toEqual([]);
    map.setAll(numbered(5000));
    expect(sorted(map.entries())).toEqual(numbered(5000));
    for (const [one, found] of map.entries()) expect(map.get(one)).toEqual(found);
  });

  test("all entries are taken, which leaves none", () => {
    const map = numbersMap(5000);
    expect(map.takeAll()).toEqual([]);
    map.setAll(numbered(5000));
    expect(sorted(map.takeAll())).toEqual(numbered(5000));
    expect([...map.keys()]).toEqual([]);
  });

  test("of a map that forgets what was not used, too", () => {
    const map = openedMap({ type: MAP_TYPE.lruHash, maxEntries: 8000 });
    map.setAll(numbered(2000));
    expect(sorted(map.entries())).toEqual(numbered(2000));
    expect(sorted(map.takeAll())).toEqual(numbered(2000));
    expect([...map.entries()]).toEqual([]);
  });

  test("a batch that has no room for entries of one hash gets more", () => {
    const map = numbersMap(5000);
    map.setAll(numbered(5000));
    const command = BPF_COMMAND.mapLookupBatch;
    const entries = readBatches({ ...SIZES, map: map.descriptor, command, room: 1 });
    expect(sorted(entries)).toEqual(numbered(5000));
  });

  test("a map that is full says so", () => {
    const map = numbersMap(2);
    const entries = [1, 2, 3].map((one) => [key(one), value(one)] as const);
    expect(() => map.setAll(entries)).toThrow("E2BIG");
  });

  test("a program is loaded, run, and found again with its maps", () => {
    const map = numbersMap(10);
    map.set(key(5), value(77));
    const program = load(
      new BpfAssembler()
        .store(32, "r10", -4, 5)
        .loadMap("r1", map.descriptor)
        .move("r2", "r10")
        .alu("add", "r2", -4)
        .call(HELPER.mapLookup)
        .jumpIf("equal", "r0", 0, "absent")
        .move("r1", 1)
        .atomic("add", 64, "r0", 0, "r1", "fetch")
        .move("r0", "r1")
        .label("absent")
        .exit(),
    );
    expect(runProgram(program, new Uint8Array(64), 64).returned).toBe(77);
    expect(runProgram(program, new Uint8Array(64), 64).returned).toBe(78);
    const { name, mapIds } = programFacts(program);
    expect(name).toBe("tested");
    const again = new BpfMap(openMap(mapIds[0] ?? 0), SIZES);
    onTestFinished(() => again.close());
    expect(mapFacts(again.descriptor)).toEqual({
      name: "numbers",
      type: MAP_TYPE.hash,
      ...SIZES,
      maxEntries: 10,
    });
    expect(again.get(key(5))).toEqual(value(79));
  });

  test(
    "a program works for a cgroup as long as its link is held",
    requires("cgroup2"),
    async () => {
      const folder = join((await findCgroupMount()) ?? "", `portolan-bpf-${process.pid}`);
      mkdirSync(folder);
      const cgroup = openSync(folder, "r");
      onTestFinished(() => {
        closeSync(cgroup);
        rmdirSync(folder);
      });
      const program = loadProgram({
        name: "connecting",
        type: PROGRAM_TYPE.cgroupSockAddr,
        attachType: ATTACH_TYPE.connect4,
        instructions: new BpfAssembler().move("r0", 1).exit().assemble(),
      });
      onTestFinished(() => closeSync(program));
      const link = createLink({ program, target: cgroup, attachType: ATTACH_TYPE.connect4 });
      const ids = programsOf(cgroup, ATTACH_TYPE.connect4, "own");
      expect(programsOf(cgroup, ATTACH_TYPE.connect4)).toEqual(expect.arrayContaining([...ids]));
      const found = openProgram(ids[0] ?? 0);
      expect(programFacts(found)).toEqual({ id: ids[0], name: "connecting", mapIds: [] });
      closeSync(found);
      closeSync(link);
      expect(programsOf(cgroup, ATTACH_TYPE.connect4, "own")).toEqual([]);
    },
  );

  test("a program that the verifier refuses is told with its words", () => {
    expect(() => load(new BpfAssembler().move("r0", "r3").exit())).toThrow(/EACCES.*R3 !read_ok/s);
  });
});
