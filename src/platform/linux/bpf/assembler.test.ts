import { expect, test } from "vitest";
import { BpfAssembler } from "./assembler.ts";

/** Each instruction: opcode, registers (source, destination), offset, immediate. */
function bytesOf(assembler: BpfAssembler): readonly string[] {
  const hex = Buffer.from(assembler.assemble()).toString("hex");
  return (hex.match(/.{16}/g) ?? []).map((one) =>
    [one.slice(0, 2), one.slice(2, 4), one.slice(4, 8), one.slice(8)].join(" "),
  );
}

test("arithmetic in 64 and 32 bits, of registers and numbers", () => {
  const assembler = new BpfAssembler()
    .move("r6", "r1")
    .move("r0", -1)
    .alu("add", "r2", 0x1234_5678)
    .alu("multiply", "r3", "r9", 32)
    .alu("shiftRight", "r3", 32)
    .alu("and", "r3", 0xffff_0000)
    .negate("r4")
    .negate("r4", 32);
  expect(bytesOf(assembler)).toEqual([
    "bf 16 0000 00000000",
    "b7 00 0000 ffffffff",
    "07 02 0000 78563412",
    "2c 93 0000 00000000",
    "77 03 0000 20000000",
    "57 03 0000 0000ffff",
    "87 04 0000 00000000",
    "84 04 0000 00000000",
  ]);
});

test("byte orders", () => {
  const assembler = new BpfAssembler()
    .swap("big", 16, "r1")
    .swap("big", 64, "r2")
    .swap("little", 32, "r3");
  expect(bytesOf(assembler)).toEqual([
    "dc 01 0000 10000000",
    "dc 02 0000 40000000",
    "d4 03 0000 20000000",
  ]);
});

test("loads and stores of all sizes", () => {
  const assembler = new BpfAssembler()
    .load(8, "r1", "r6", 0)
    .load(16, "r1", "r6", 2)
    .load(32, "r1", "r6", 4)
    .load(64, "r1", "r10", -8)
    .store(8, "r10", -1, "r2")
    .store(16, "r10", -2, "r2")
    .store(32, "r10", -4, 7)
    .store(64, "r10", -8, -1);
  expect(bytesOf(assembler)).toEqual([
    "71 61 0000 00000000",
    "69 61 0200 00000000",
    "61 61 0400 00000000",
    "79 a1 f8ff 00000000",
    "73 2a ffff 00000000",
    "6b 2a feff 00000000",
    "62 0a fcff 07000000",
    "7a 0a f8ff ffffffff",
  ]);
});

test("64-bit numbers and maps take two instructions, which jumps count", () => {
  const assembler = new BpfAssembler()
    .jump("end")
    .loadWide("r1", 0x1122_3344_5566_7788n)
    .loadMap("r2", 9)
    .label("end")
    .exit();
  expect(bytesOf(assembler)).toEqual([
    "05 00 0400 00000000",
    "18 01 0000 88776655",
    "00 00 0000 44332211",
    "18 12 0000 09000000",
    "00 00 0000 00000000",
    "95 00 0000 00000000",
  ]);
});

test("atomic operations, with the old value and without", () => {
  const assembler = new BpfAssembler()
    .atomic("add", 64, "r0", 0, "r1")
    .atomic("add", 32, "r0", 8, "r1", "fetch")
    .atomic("exchange", 64, "r0", 0, "r1")
    .atomic("compareExchange", 32, "r6", 4, "r2");
  expect(bytesOf(assembler)).toEqual([
    "db 10 0000 00000000",
    "c3 10 0800 01000000",
    "db 10 0000 e1000000",
    "c3 26 0400 f1000000",
  ]);
});

test("jumps forth and back, and calls of the kernel and of the program itself", () => {
  const assembler = new BpfAssembler()
    .label("again")
    .jumpIf("equal", "r1", 6, "again")
    .jumpIf("belowOrEqual", "r1", "r2", "inner", 32)
    .call(7)
    .callLocal("inner")
    .exit()
    .label("inner")
    .jumpIf("signedBelow", "r1", -1, "again")
    .exit();
  expect(bytesOf(assembler)).toEqual([
    "15 01 ffff 06000000",
    "be 21 0300 00000000",
    "85 00 0000 07000000",
    "85 10 0000 01000000",
    "95 00 0000 00000000",
    "c5 01 faff ffffffff",
    "95 00 0000 00000000",
  ]);
});

test("what can not be written is refused", () => {
  expect(() => new BpfAssembler().jump("nowhere").assemble()).toThrow('no label "nowhere"');
  expect(() => new BpfAssembler().label("a").label("a")).toThrow('"a" stands twice');
  expect(() => new BpfAssembler().move("r1", 2 ** 32)).toThrow("no immediate");
  expect(() => new BpfAssembler().move("r1", 0.5)).toThrow("no immediate");
  expect(() => new BpfAssembler().load(8, "r1", "r2", 32_768)).toThrow("32768 away");
  const far = new BpfAssembler().jump("far");
  for (let count = 0; count < 32_768; count += 1) far.exit();
  expect(() => far.label("far").assemble()).toThrow('the jump to "far" is 32768 away');
});
