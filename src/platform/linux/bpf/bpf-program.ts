import { CoreError } from "../../../core/errors.ts";
import { ERRNO, errnoName } from "../../errno.ts";
import { allocateNative, type NativeMemory, putPointer } from "../native-memory.ts";
import { checked } from "../system-error.ts";
import { ATTRIBUTE_BYTES, bpf, putName } from "./bpf-call.ts";
import { BPF_COMMAND } from "./bpf-numbers.ts";
import { INSTRUCTION_BYTES } from "./instruction.ts";

export interface BpfProgram {
  /** Up to 15 letters, for those who list the programs of a machine. */
  readonly name: string;
  readonly type: number;
  /** Where it will be attached; the kernel checks it for that. */
  readonly attachType: number;
  readonly instructions: Uint8Array;
  /** Some helpers are only for programs under "GPL", the license of the kernel itself. */
  readonly license?: string;
}

/** Where in the arguments of a command a field is. */
const LOAD = {
  type: 0,
  count: 4,
  instructions: 8,
  license: 16,
  logLevel: 24,
  logBytes: 28,
  log: 32,
  name: 48,
  attachType: 68,
} as const;
const TEST_RUN = {
  program: 0,
  result: 4,
  inputBytes: 8,
  outputBytes: 12,
  input: 16,
  output: 24,
  repeat: 32,
  durationNs: 36,
  contextBytes: 40,
  context: 48,
  bytes: 80,
} as const;

const OUR_LICENSE = "Apache-2.0";
const LOG_BYTES = 256 * 1024;
/** Its end says what was refused. */
const TOLD_LOG_CHARACTERS = 2000;
const MOST_TRIES = 5;

/**
 * BPF_PROG_LOAD of bpf(2): a descriptor.
 * @throws CoreError ERR_SYSTEM_CALL with the end of what the verifier said
 */
export function loadProgram(program: BpfProgram): number {
  const quick = load(program, 0);
  if (quick >= 0) return quick;
  const log = allocateNative(LOG_BYTES);
  const result = load(program, log.address);
  if (result >= 0) return result;
  const said = Buffer.from(log.bytes).toString("latin1").replace(/\0.*$/s, "").trimEnd();
  throw new CoreError(
    "ERR_SYSTEM_CALL",
    `bpf of program ${program.name} failed: ${errnoName(result)}${said === "" ? "" : `: ${said.slice(-TOLD_LOG_CHARACTERS)}`}`,
  );
}

function load(program: BpfProgram, log: number): number {
  const { name, type, attachType, instructions, license: words = OUR_LICENSE } = program;
  const code = allocateNative(instructions.length);
  code.bytes.set(instructions);
  const license = allocateNative(words.length + 1);
  license.bytes.set(Buffer.from(words, "latin1"));
  const attributes = allocateNative(ATTRIBUTE_BYTES);
  const { view } = attributes;
  view.setUint32(LOAD.type, type, true);
  view.setUint32(LOAD.count, instructions.length / INSTRUCTION_BYTES, true);
  putPointer(view, LOAD.instructions, code.address);
  putPointer(view, LOAD.license, license.address);
  if (log !== 0) {
    view.setUint32(LOAD.logLevel, 1, true);
    view.setUint32(LOAD.logBytes, LOG_BYTES, true);
    putPointer(view, LOAD.log, log);
  }
  putName(attributes, LOAD.name, name);
  view.setUint32(LOAD.attachType, attachType, true);
  let result = -ERRNO.EAGAIN;
  // A signal interrupts the verifier.
  for (let tries = 0; result === -ERRNO.EAGAIN && tries < MOST_TRIES; tries += 1) {
    result = bpf(BPF_COMMAND.programLoad, attributes);
  }
  return result;
}

export interface TestRunOptions {
  /** struct __sk_buff or what else the program is given besides the packet. */
  readonly context?: Uint8Array;
  /** So many times, each with what the one before left. */
  readonly repeat?: number;
}

export interface TestRun {
  readonly returned: number;
  readonly output: Uint8Array;
  /** Of one run, on average. */
  readonly durationNs: number;
}

/** BPF_PROG_TEST_RUN of bpf(2): what a program makes of a packet. @throws CoreError ERR_SYSTEM_CALL */
export function runProgram(
  descriptor: number,
  input: Uint8Array,
  outputBytes: number,
  { context = new Uint8Array(0), repeat = 1 }: TestRunOptions = {},
): TestRun {
  const data = nativeCopy(input);
  const given = nativeCopy(context);
  const output = allocateNative(Math.max(1, outputBytes));
  const attributes = allocateNative(ATTRIBUTE_BYTES);
  const { view } = attributes;
  view.setUint32(TEST_RUN.program, descriptor, true);
  view.setUint32(TEST_RUN.inputBytes, input.length, true);
  view.setUint32(TEST_RUN.outputBytes, outputBytes, true);
  putPointer(view, TEST_RUN.input, data.address);
  putPointer(view, TEST_RUN.output, output.address);
  view.setUint32(TEST_RUN.repeat, repeat, true);
  view.setUint32(TEST_RUN.contextBytes, context.length, true);
  if (context.length > 0) putPointer(view, TEST_RUN.context, given.address);
  checked("bpf", bpf(BPF_COMMAND.programTestRun, attributes, TEST_RUN.bytes), "a test run");
  const written = Math.min(view.getUint32(TEST_RUN.outputBytes, true), outputBytes);
  return {
    returned: view.getUint32(TEST_RUN.result, true),
    output: output.bytes.slice(0, written),
    durationNs: view.getUint32(TEST_RUN.durationNs, true),
  };
}

function nativeCopy(bytes: Uint8Array): NativeMemory {
  const memory = allocateNative(Math.max(1, bytes.length));
  memory.bytes.set(bytes);
  return memory;
}
