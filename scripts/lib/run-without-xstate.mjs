/**
 * Becomes another program (the same process) for which ptrace(2) has no extended processor state:
 *
 *     node scripts/lib/run-without-xstate.mjs PROGRAM [ARGUMENTS...]
 *
 * User-Mode Linux 6.1 has room for that state as it was before AMX. On a processor with it the host refuses
 * what is too short, and the kernel ends at its first process; where it can not be had at all, it takes the
 * older calls. x64 alone has AMX.
 */
import koffi from "koffi";

const SYS_PTRACE = 101;
const [PTRACE_GETREGSET, PTRACE_SETREGSET, NT_X86_XSTATE] = [0x4204, 0x4205, 0x202];
const [PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER] = [22, 38, 2];
const [ALLOW, FAIL_WITH_EIO] = [0x7fff_0000, 0x0005_0005];
const [SIGPIPE, F_SETFD] = [13, 2];
/** The last descriptor that a shell gives to what it starts. */
const LAST_GIVEN = 9;
/** linux/bpf_common.h: load a word, jump if equal, return. */
const [LOAD, IF_EQUAL, RETURN] = [0x20, 0x15, 0x06];
/** struct seccomp_data: the number of the call, the lower halves of its first and third argument. */
const [NUMBER, FIRST, THIRD] = [0, 16, 32];

/** Code, steps to go on by where it is so and where it is not, operand. */
const FILTER = [
  [LOAD, 0, 0, NUMBER],
  [IF_EQUAL, 0, 5, SYS_PTRACE],
  [LOAD, 0, 0, FIRST],
  [IF_EQUAL, 1, 0, PTRACE_GETREGSET],
  [IF_EQUAL, 0, 2, PTRACE_SETREGSET],
  [LOAD, 0, 0, THIRD],
  [IF_EQUAL, 1, 0, NT_X86_XSTATE],
  [RETURN, 0, 0, ALLOW],
  [RETURN, 0, 0, FAIL_WITH_EIO],
];
const INSTRUCTION_BYTES = 8;

const libc = koffi.load(null);
const prctl = libc.func("int prctl(int, ulong, uintptr_t, ulong, ulong)");
const execv = libc.func("int execv(const char *, const char **)");
const fcntl = libc.func("int fcntl(int, int, int)");
const signal = libc.func("uintptr_t signal(int, uintptr_t)");

const [, , program, ...args] = process.argv;
if (program === undefined) throw new Error("usage: run-without-xstate.mjs PROGRAM [ARGUMENTS...]");
const code = new DataView(new ArrayBuffer(FILTER.length * INSTRUCTION_BYTES));
for (const [index, [operation = 0, yes = 0, no = 0, operand = 0]] of FILTER.entries()) {
  const at = index * INSTRUCTION_BYTES;
  code.setUint16(at, operation, true);
  code.setUint8(at + 2, yes);
  code.setUint8(at + 3, no);
  code.setUint32(at + 4, operand, true);
}
/** struct sock_fprog: how many instructions, and where. */
const filter = new DataView(new ArrayBuffer(16));
filter.setUint16(0, FILTER.length, true);
filter.setBigUint64(8, BigInt(koffi.address(new Uint8Array(code.buffer))), true);
const filterAddress = Number(koffi.address(new Uint8Array(filter.buffer)));

if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) !== 0) throw new Error("prctl: no new privileges");
if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filterAddress, 0, 0) !== 0) {
  throw new Error("prctl: the filter of calls was refused");
}
// Node ignores it, and has what it was given closed where another program begins.
signal(SIGPIPE, 0);
for (let descriptor = 0; descriptor <= LAST_GIVEN; descriptor += 1) fcntl(descriptor, F_SETFD, 0);
execv(program, [program, ...args, null]);
throw new Error(`${program} could not be started: ${koffi.errno()}`);
