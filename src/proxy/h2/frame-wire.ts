import type { NetEventLoop } from "../../net/net-event-loop.ts";
import type { Region } from "../../net/region.ts";
import type { ChannelRole } from "../../net/selector-event-loop.ts";
import { Timer } from "../../net/timer-queue.ts";
import { ERRNO, errnoName } from "../../platform/errno.ts";
import type { ConnectionHandler } from "../../wire/http2/connection-options.ts";
import type { Http2Config } from "../../wire/http2/http2-config.ts";
import { Http2Connection } from "../../wire/http2/http2-connection.ts";
import { OutputBuffer } from "../../wire/http2/output-buffer.ts";
import { CODE, codeName } from "../../wire/http2/protocol.ts";
import type { EndOwner, RelayEnd } from "../relay/relay-end.ts";
import type { H2Memory } from "./h2-memory.ts";

export interface WireHandler extends ConnectionHandler {
  /** Bytes have come or gone. */
  wireMoved(): void;
  /** The connection is over, and closed. Told once; not after `close`. */
  wireClosed(reason: string): void;
  /** What it is a part of, for those who list connections. */
  wireRole(): ChannelRole;
}

export interface WireParts {
  readonly role: "server" | "client";
  readonly config: Http2Config;
  readonly end: RelayEnd;
  readonly memory: H2Memory;
  readonly handler: WireHandler;
  /** What goes out before everything else. */
  readonly greeting?: Buffer;
}

/** So many reads or writes at a time: then the other FDs of the loop have their turn. */
const MAX_TURNS = 16;
/** A peer that does not take what it is told is not listened to either. */
const MAX_WAITING_BYTES = 262_144;
/** How long a peer has to take the last words, and to end its own side. */
const LINGER_MS = 1000;

/** Moves the bytes of an HTTP/2 connection: what is read goes into it, what it writes goes out together. */
export class FrameWire implements EndOwner {
  readonly connection: Http2Connection;
  readonly #net: NetEventLoop;
  readonly #end: RelayEnd;
  readonly #memory: H2Memory;
  readonly #handler: WireHandler;
  readonly #output: OutputBuffer<Region>;
  readonly #linger = new Timer(() => this.#closed("it took too long to end"));
  readonly #flushLater = (): void => this.#flush();
  #state: "open" | "ending" | "closed" = "open";
  /** Why it ends. */
  #reason = "";

  constructor(net: NetEventLoop, { role, config, end, memory, handler, greeting }: WireParts) {
    this.#net = net;
    this.#end = end;
    this.#memory = memory;
    this.#handler = handler;
    this.#output = new OutputBuffer<Region>(memory, () => net.loop.nextTick(this.#flushLater));
    this.connection = new Http2Connection({
      role,
      config,
      handler,
      sink: this.#output,
      nowMs: () => net.loop.nowMs,
    });
    end.owner = this;
    if (greeting !== undefined && greeting.length > 0) {
      const at = this.#output.extend(greeting.length);
      greeting.copy(this.#output.bytes, at);
    }
  }

  /** @param already what came before it was known that this is HTTP/2. */
  start(already: Buffer): void {
    this.connection.start();
    if (already.length > 0) this.#receive(already, already.length);
    this.#read();
  }

  /** Sends what waits and closes then; new streams are not taken. */
  finish(): void {
    if (this.#state !== "open") return;
    this.connection.close(CODE.NO_ERROR);
    this.#beginEnding();
  }

  /** Closes at once; the handler is not told. */
  close(withReset: boolean): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    const { loop } = this.#net;
    loop.disarm(this.#linger);
    this.#output.clear();
    this.#end.leave(loop, withReset);
    this.connection.lost();
  }

  endReady(): void {
    this.#read();
    if (this.#output.size > 0) this.#flush();
  }

  endDismissed(): void {
    this.#closed("it is to be closed");
  }

  roleOf(): ChannelRole {
    return this.#handler.wireRole();
  }

  #read(): void {
    const { fd } = this.#end;
    const { scratch } = this.#net;
    for (let turn = 0; turn < MAX_TURNS; turn += 1) {
      if (this.#state === "closed" || !fd.readable || this.#isFull) return;
      const count = fd.read(scratch, 0, scratch.bytes.length);
      if (count > 0) {
        this.#end.received += count;
        this.#receive(this.#memory.scratch, count);
      } else if (count === 0) {
        this.#closed("the other side has ended");
      } else if (count !== -ERRNO.EAGAIN) {
        this.#closed(errnoName(count));
      }
    }
    this.#net.loop.nextTick(() => this.#read());
  }

  #receive(bytes: Buffer, count: number): void {
    // What comes after the last words is thrown away.
    if (this.#state !== "open") return;
    const code = this.connection.receive(bytes, 0, count);
    if (code !== CODE.NO_ERROR) this.#beginEnding(codeName(code));
    else this.#handler.wireMoved();
  }

  get #isFull(): boolean {
    return this.#output.size > MAX_WAITING_BYTES;
  }

  #flush(): void {
    const wasFull = this.#isFull;
    for (let turn = 0; turn < MAX_TURNS; turn += 1) {
      if (this.#state === "closed") return;
      const { memory, start, size } = this.#output;
      if (memory === undefined) break;
      const count = this.#end.fd.write(memory, start, size);
      if (count === -ERRNO.EAGAIN) break;
      if (count < 0) {
        this.#closed(errnoName(count));
        return;
      }
      this.#end.sent += count;
      this.#output.drop(count);
      this.connection.pump();
    }
    this.#afterFlush(wasFull);
  }

  #afterFlush(wasFull: boolean): void {
    const { loop } = this.#net;
    if (this.#state === "ending") {
      if (this.#output.size === 0) this.#end.fd.shutdownWrite();
      return;
    }
    this.#handler.wireMoved();
    if (this.#state === "closed") return;
    if (this.#output.size > 0 && this.#end.fd.writable) loop.nextTick(this.#flushLater);
    if (wasFull && !this.#isFull) loop.nextTick(() => this.#read());
  }

  #beginEnding(reason = "all is done"): void {
    if (this.#state !== "open") return;
    this.#state = "ending";
    this.#reason = reason;
    this.#net.loop.arm(this.#linger, LINGER_MS);
    this.#net.loop.nextTick(this.#flushLater);
  }

  #closed(reason: string): void {
    if (this.#state === "closed") return;
    const told = this.#reason === "" ? reason : this.#reason;
    this.close(this.#state === "open" && this.connection.streamCount > 0);
    this.#handler.wireClosed(told);
  }
}
