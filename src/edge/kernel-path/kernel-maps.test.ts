import { describe, expect, onTestFinished, test } from "vitest";
import { requires } from "../../../test/support/requires.ts";
import { BpfAssembler } from "../../platform/linux/bpf/assembler.ts";
import { ATTACH_TYPE, HELPER, PROGRAM_TYPE } from "../../platform/linux/bpf/bpf-numbers.ts";
import { loadProgram, runProgram } from "../../platform/linux/bpf/bpf-program.ts";
import { close } from "../../platform/linux/io-calls.ts";
import { numberBytes } from "./entries.ts";
import { BpfKernelMaps } from "./kernel-maps.ts";
import { COUNTS, RECORD } from "./layout.ts";
import { SharedRecord } from "./shared-record.ts";

function open(): BpfKernelMaps {
  const maps = new BpfKernelMaps({ maxFlows: 16, scratchBytes: 64 });
  onTestFinished(() => maps.close());
  return maps;
}

/** Has a program of the kernel add 1 to a number of an entry of a map; so many times. */
function addInKernel(map: number, entry: number, offset: number, bits: 32 | 64, times: number) {
  const assembler = new BpfAssembler()
    .store(32, "r10", -4, entry)
    .loadMap("r1", map)
    .move("r2", "r10")
    .alu("add", "r2", -4)
    .call(HELPER.mapLookup)
    .jumpIf("equal", "r0", 0, "absent")
    .move("r1", 1)
    .atomic("add", bits, "r0", offset, "r1", "fetch")
    .label("absent")
    .move("r0", 0)
    .exit();
  const program = loadProgram({
    name: "tested",
    type: PROGRAM_TYPE.schedClassifier,
    attachType: ATTACH_TYPE.tcxIngress,
    instructions: assembler.assemble(),
  });
  onTestFinished(() => {
    close(program);
  });
  for (let time = 0; time < times; time += 1) runProgram(program, new Uint8Array(64), 64);
}

describe("maps of the kernel path", requires("linux", "root"), () => {
  test("programs and this process count in the same memory", () => {
    const maps = open();
    const record = new SharedRecord(maps.records, 3);
    expect(record.give()).toBe(0);
    addInKernel(maps.descriptors.records, 3, RECORD.counter, 32, 2);
    expect([record.give(), record.given]).toEqual([3, 4]);
    expect(new SharedRecord(maps.records, 2).given).toBe(0);
  });

  test("counts of all processors are added up", () => {
    const maps = open();
    addInKernel(maps.descriptors.counts, COUNTS.received, 0, 64, 5);
    expect(maps.counts()).toEqual([0, 5, 0, 0]);
  });

  test("networks are taken as the kernel wants them", () => {
    const { routesV4, routesV6 } = open().maps;
    const v4 = Uint8Array.from([24, 0, 0, 0, 10, 18, 1, 0]);
    routesV4.set(v4, numberBytes(7));
    expect(routesV4.get(Uint8Array.from([32, 0, 0, 0, 10, 18, 1, 9]))).toEqual(numberBytes(7));
    routesV4.delete(v4);
    expect(routesV4.get(v4)).toBeUndefined();
    const v6 = new Uint8Array(20).fill(0xfc, 4, 6);
    v6[0] = 16;
    routesV6.set(v6, numberBytes(8));
    expect(routesV6.get(v6)).toEqual(numberBytes(8));
  });
});
