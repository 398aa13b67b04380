import { ERRNO } from "../../platform/errno.ts";
import { SPLICE_F_MOVE, SPLICE_F_NONBLOCK } from "../../platform/linux/abi.ts";
import { splice } from "../../platform/linux/io-calls.ts";
import { openPipe, type PipeEnds } from "../../platform/linux/pipe.ts";
import type { Pipe, PipePool, SpliceEnd } from "../fd.ts";
import type { DescriptorLedger } from "./descriptor-ledger.ts";

const FLAGS = SPLICE_F_MOVE | SPLICE_F_NONBLOCK;
/** Below this a pipe moves no more than one read does; the kernel then is short of pipe pages. */
const MIN_CAPACITY_BYTES = 65_536;

class PosixPipe implements Pipe {
  bufferedBytes = 0;
  readonly ends: PipeEnds;

  constructor(ends: PipeEnds) {
    this.ends = ends;
  }

  fill(from: SpliceEnd, maxBytes: number): number {
    const count = splice(from.descriptor, this.ends.writeEnd, maxBytes, FLAGS);
    if (count > 0) this.bufferedBytes += count;
    // EAGAIN also means that the pipe is full: only one that was empty tells about the socket.
    if (count !== -ERRNO.EAGAIN || this.bufferedBytes === 0) from.noteRead(count);
    return count;
  }

  drain(to: SpliceEnd): number {
    const count = splice(this.ends.readEnd, to.descriptor, this.bufferedBytes, FLAGS);
    if (count > 0) this.bufferedBytes -= count;
    to.noteWrite(count);
    return count;
  }
}

/** Pipes of one loop. They are lent only while bytes are in them, so a few serve many connections. */
export class PosixPipes implements PipePool {
  readonly #ledger: DescriptorLedger;
  readonly #capacityBytes: number;
  readonly #maxFree: number;
  readonly #free: PosixPipe[] = [];

  constructor(
    ledger: DescriptorLedger,
    options: { readonly capacityBytes: number; readonly maxFree: number },
  ) {
    this.#ledger = ledger;
    this.#capacityBytes = options.capacityBytes;
    this.#maxFree = options.maxFree;
  }

  borrow(): Pipe | undefined {
    return this.#free.pop() ?? this.#open();
  }

  giveBack(pipe: Pipe): void {
    if (!(pipe instanceof PosixPipe)) return;
    if (pipe.bufferedBytes > 0 || this.#free.length >= this.#maxFree) this.#close(pipe.ends);
    else this.#free.push(pipe);
  }

  close(): void {
    for (const pipe of this.#free) this.#close(pipe.ends);
    this.#free.length = 0;
  }

  #open(): PosixPipe | undefined {
    const ends = openPipe(this.#capacityBytes);
    if (ends === undefined) return undefined;
    this.#ledger.note(ends.readEnd);
    this.#ledger.note(ends.writeEnd);
    if (ends.capacityBytes >= MIN_CAPACITY_BYTES) return new PosixPipe(ends);
    this.#close(ends);
    return undefined;
  }

  #close(ends: PipeEnds): void {
    this.#ledger.close(ends.readEnd);
    this.#ledger.close(ends.writeEnd);
  }
}
