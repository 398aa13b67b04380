import type { StreamFd } from "../../net/fd.ts";
import { IdleTimer } from "../../net/idle-timer.ts";
import type { NetEventLoop } from "../../net/net-event-loop.ts";
import type { ChannelId, ReadyHandler } from "../../net/selector-event-loop.ts";
import { ERRNO } from "../../platform/errno.ts";

const HEAD_END = "\r\n\r\n";
const MAX_KEPT_BYTES = 40_000;
const IDLE_MS = 120_000;

/** A server's end of a connection: says everything back that it hears, as fast as it is taken. */
export class SimulatedEcho implements ReadyHandler {
  readonly #net: NetEventLoop;
  readonly #fd: StreamFd;
  readonly #id: ChannelId;
  readonly #onGone: (echo: SimulatedEcho) => void;
  #kept: Buffer = Buffer.alloc(0);
  #hasEnded = false;
  readonly #idle: IdleTimer;

  constructor(net: NetEventLoop, fd: StreamFd, onGone: (echo: SimulatedEcho) => void) {
    this.#net = net;
    this.#fd = fd;
    this.#onGone = onGone;
    this.#id = net.loop.add(fd, this);
    // Where the network was cut for long, nobody tells it that the other side is gone.
    this.#idle = new IdleTimer(net.loop, IDLE_MS, () => this.close(true));
  }

  onReady(): void {
    this.#idle.touch();
    for (;;) {
      if (!this.#flush()) return;
      if (this.#hasEnded) {
        this.close(false);
        return;
      }
      if (this.#kept.length >= MAX_KEPT_BYTES || !this.#fd.readable) return;
      const { scratch } = this.#net;
      const count = this.#fd.read(scratch, 0, MAX_KEPT_BYTES);
      if (count === 0) this.#hasEnded = true;
      else if (count > 0) this.#kept = this.heard(this.#kept, scratch.bytes.subarray(0, count));
      else if (count === -ERRNO.EAGAIN) return;
      else {
        this.close(true);
        return;
      }
    }
  }

  onRemoved(): void {
    this.#fd.close();
  }

  close(withReset: boolean): void {
    this.#idle.stop();
    if (withReset) this.#fd.reset();
    else this.#fd.close();
    this.#net.loop.remove(this.#id);
    this.#onGone(this);
  }

  /** What is to be said after what is kept. */
  protected heard(kept: Buffer, chunk: Uint8Array): Buffer {
    return Buffer.concat([kept, chunk]);
  }

  /** False where the connection is gone, or takes no more now. */
  #flush(): boolean {
    while (this.#kept.length > 0 && this.#fd.writable) {
      const count = this.#fd.write({ bytes: this.#kept, address: 0 }, 0, this.#kept.length);
      if (count === -ERRNO.EAGAIN) return false;
      if (count < 0) {
        this.close(true);
        return false;
      }
      this.#kept = this.#kept.subarray(count);
    }
    return this.#kept.length === 0;
  }
}

/** The same in HTTP: the body of each request comes back as that of its answer. */
export class SimulatedHttpEcho extends SimulatedEcho {
  #head = "";
  #bodyLeft = 0;

  protected override heard(kept: Buffer, chunk: Uint8Array): Buffer {
    const parts: Buffer[] = [kept];
    let rest = Buffer.from(chunk);
    while (rest.length > 0) {
      if (this.#bodyLeft > 0) {
        parts.push(rest.subarray(0, this.#bodyLeft));
        const taken = Math.min(rest.length, this.#bodyLeft);
        this.#bodyLeft -= taken;
        rest = rest.subarray(taken);
        continue;
      }
      this.#head += rest.toString("latin1");
      const end = this.#head.indexOf(HEAD_END);
      if (end < 0) break;
      rest = Buffer.from(this.#head.slice(end + HEAD_END.length), "latin1");
      this.#bodyLeft = Number(/content-length: (\d+)/i.exec(this.#head)?.[1] ?? 0);
      this.#head = "";
      parts.push(Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${this.#bodyLeft}${HEAD_END}`));
    }
    return Buffer.concat(parts);
  }
}
