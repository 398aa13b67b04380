import type { Pipe, PipePool, Provider } from "../../net/fd.ts";
import type { Region } from "../../net/region.ts";
import { ERRNO } from "../../platform/errno.ts";
import type { RelayEnd } from "./relay-end.ts";

/** What moving bytes needs of a loop; `NetEventLoop` has it. */
export interface MoveHost {
  readonly provider: Provider;
  /** Nothing in it outlives a call. */
  readonly scratch: Region;
}

/** `moveBytes` goes on when the FDs say so; or at once, when the others had their turn. */
const WAITS = 0;
export const WANTS_TURN = 1;

/** So many reads at a time: a stream that never pauses must not keep the loop from the others. */
const MAX_TURNS = 16;
/** After so many full reads the bytes are many: then they pass without being copied, or more at a time. */
const BULK_READS = 3;
/** A pipe that gets less than this at a time is no better than reading. */
const BULK_BYTES = 16_384;
const SPLICE_BYTES = 1_048_576;

/**
 * Moves what there is from one end to the other, as far as it takes it: what is read and not taken is
 * kept, and nothing more is read until it is gone. The end of the stream is passed on as such.
 * `WAITS`, `WANTS_TURN`, or the negative errno with which one of the two failed.
 */
export function moveBytes(from: RelayEnd, to: RelayEnd, host: MoveHost): number {
  for (let turn = 0; turn < MAX_TURNS; turn += 1) {
    const flushed = flush(from, to, host.provider.pipes);
    if (flushed < 0) return settled(flushed);
    if (from.hasEnded) return passEnd(from, to);
    if (!from.fd.readable || !to.fd.writable) return WAITS;
    const moved = take(from, to, host);
    if (moved < 0) return settled(moved);
    if (moved === 0) from.hasEnded = true;
  }
  return WANTS_TURN;
}

/** How many bytes; 0 at the end of the stream; or a negative errno. */
function take(from: RelayEnd, to: RelayEnd, host: MoveHost): number {
  if (from.bulkReads < BULK_READS || from.passage !== undefined)
    return copy(from, to, host, from.bufferBytes);
  const pipe = borrowPipe(from, to, host);
  return pipe === undefined
    ? copy(from, to, host, host.scratch.bytes.length)
    : fillPipe(from, pipe, host);
}

/** Frees what is kept of a flow that will not go on. */
export function dropKept(from: RelayEnd, pipes: PipePool | undefined): void {
  from.rest = undefined;
  if (from.pipe !== undefined) pipes?.giveBack(from.pipe);
  from.pipe = undefined;
}

function settled(result: number): number {
  return result === -ERRNO.EAGAIN ? WAITS : result;
}

/** Where both have ended, closing them says so: one system call less. */
function passEnd(from: RelayEnd, to: RelayEnd): number {
  if (!from.isEndPassed && !to.isEndPassed) to.fd.shutdownWrite();
  from.isEndPassed = true;
  return WAITS;
}

/** 0 where nothing is kept any more, else a negative errno. */
function flush(from: RelayEnd, to: RelayEnd, pipes: PipePool | undefined): number {
  if (from.rest !== undefined) return flushRest(from, to);
  if (from.pipe !== undefined) return drainPipe(from, to, pipes);
  return 0;
}

/** Sends what is kept: 0 where it is gone, else a negative errno. */
export function flushRest(from: RelayEnd, to: RelayEnd): number {
  const { rest } = from;
  if (rest === undefined) return 0;
  const count = to.fd.write(rest, from.restStart, from.restEnd - from.restStart);
  if (count < 0) return count;
  to.sent += count;
  from.restStart += count;
  if (from.restStart < from.restEnd) return -ERRNO.EAGAIN;
  from.rest = undefined;
  return 0;
}

function drainPipe(from: RelayEnd, to: RelayEnd, pipes: PipePool | undefined): number {
  const { pipe } = from;
  const end = to.fd.splice;
  if (pipe === undefined || end === undefined) return 0;
  while (pipe.bufferedBytes > 0) {
    const count = pipe.drain(end);
    if (count < 0) return count;
    to.sent += count;
  }
  pipes?.giveBack(pipe);
  from.pipe = undefined;
  return 0;
}

/** Undefined where bytes can not pass without being copied; where pipes are used up that is not tried again at once. */
function borrowPipe(from: RelayEnd, to: RelayEnd, { provider }: MoveHost): Pipe | undefined {
  if (from.fd.splice === undefined || to.fd.splice === undefined) return undefined;
  const pipe = provider.pipes?.borrow();
  if (pipe === undefined) from.bulkReads = 0;
  return pipe;
}

/** Into a pipe, from which the next turn takes it. */
function fillPipe(from: RelayEnd, pipe: Pipe, { provider }: MoveHost): number {
  const end = from.fd.splice;
  const count = end === undefined ? -ERRNO.EINVAL : pipe.fill(end, SPLICE_BYTES);
  if (count <= 0) {
    provider.pipes?.giveBack(pipe);
    return count;
  }
  from.pipe = pipe;
  from.received += count;
  if (count < BULK_BYTES) from.bulkReads = 0;
  return count;
}

function copy(from: RelayEnd, to: RelayEnd, host: MoveHost, maxBytes: number): number {
  const { scratch } = host;
  const count = from.fd.read(scratch, 0, maxBytes);
  if (count <= 0) return count;
  if (from.passage !== undefined && from.passage.pass(scratch.bytes, 0, count) !== count)
    return -ERRNO.ECONNABORTED;
  from.received += count;
  from.bulkReads = count >= from.bufferBytes ? from.bulkReads + 1 : 0;
  if (from.fd.hasReadAll === true) from.hasEnded = true;
  const taken = to.fd.write(scratch, 0, count, from.hasEnded);
  if (taken < 0 && taken !== -ERRNO.EAGAIN) return taken;
  const sent = Math.max(0, taken);
  to.sent += sent;
  if (sent < count) {
    from.putFirst(scratch.bytes.subarray(sent, count), host.provider.allocate(count - sent));
  }
  return count;
}
