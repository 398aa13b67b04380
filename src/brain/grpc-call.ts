import type { ServerHttp2Stream } from "node:http2";
import type { Duplex } from "node:stream";
import { CoreError } from "../core/errors.ts";
import { encodeGrpcMessage, GRPC_STATUS, type GrpcStatus } from "../wire/grpc/status.ts";
import { GrpcMessages } from "./grpc-messages.ts";

/** Messages are gathered to writes of this size: what a client that stops reading holds up. */
const WRITE_BYTES = 32_768;

const RESPONSE_HEADERS = {
  ":status": 200,
  "content-type": "application/grpc",
  "grpc-accept-encoding": "identity",
} as const;

/** Where messages are made. What is in it is taken before anyone else has a turn. */
export interface FrameOutput {
  readonly length: number;
  take(): Buffer;
  clear(): void;
}

/** Refuses a call without a response body. */
export function refuseCall(stream: ServerHttp2Stream, status: GrpcStatus): void {
  if (stream.destroyed || stream.headersSent) return;
  stream.respond({ ...RESPONSE_HEADERS, ...statusHeaders(status) }, { endStream: true });
}

/** What a call needs of an HTTP/2 stream. */
export type GrpcStream = Duplex & Pick<ServerHttp2Stream, "respond" | "sendTrailers">;

/** One for all: Node makes one with a stack at the end of each call where none is given. */
const OVER = ended();

/** One gRPC call on the side of the server: messages in, messages out, a status at the end. */
export class GrpcCall {
  readonly #stream: GrpcStream;
  readonly #maxMessageBytes: number;
  readonly #abort = new AbortController();
  #status: GrpcStatus = { code: GRPC_STATUS.ok, message: "" };

  constructor(stream: GrpcStream, maxMessageBytes: number) {
    this.#stream = stream;
    this.#maxMessageBytes = maxMessageBytes;
    stream.on("close", () => this.#abort.abort(OVER));
    stream.on("wantTrailers", () => stream.sendTrailers(statusHeaders(this.#status)));
    stream.respond(RESPONSE_HEADERS, { waitForTrailers: true });
  }

  /** Aborted when the client is gone or the call was ended from outside. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** The messages of the client; to be asked for once. @param onMore see `GrpcMessages` */
  messages(onMore: () => void): GrpcMessages {
    return new GrpcMessages(this.#stream, this.#maxMessageBytes, onMore);
  }

  /**
   * Sends all messages that `frames` makes in `output`, many in one write, and returns how many there were: at once,
   * or as a promise where the client does not read.
   */
  send(frames: Iterable<void>, output: FrameOutput): number | Promise<number> {
    const writes = this.#writeAll(frames, output);
    const first = writes.next();
    return first.done === true ? first.value : goOn(writes, first.value);
  }

  /** Gives what has to be awaited. */
  *#writeAll(frames: Iterable<void>, output: FrameOutput): Generator<Promise<void>, number, void> {
    let sent = 0;
    try {
      for (const _ of frames) {
        sent += 1;
        if (output.length < WRITE_BYTES) continue;
        const drained = this.#write(output.take());
        if (drained !== undefined) yield drained;
      }
    } catch (error) {
      // What was begun must not go out with the messages of another call.
      output.clear();
      throw error;
    }
    if (output.length > 0) {
      const drained = this.#write(output.take());
      if (drained !== undefined) yield drained;
    }
    return sent;
  }

  /** Sends one message with its header. */
  async answer(frame: Buffer): Promise<void> {
    await this.#write(frame);
  }

  /** Ends the call with a status; what was sent before it still arrives. */
  end(status: GrpcStatus): void {
    this.#status = status;
    this.#abort.abort(OVER);
    if (this.#stream.destroyed) return;
    this.#stream.end();
    // What the client still says is of no interest, but has to be read to see its end.
    this.#stream.resume();
  }

  #write(chunk: Buffer): Promise<void> | undefined {
    if (this.#abort.signal.aborted || this.#stream.destroyed) throw ended();
    if (this.#stream.write(chunk)) return undefined;
    return new Promise((resolve, reject) => {
      const { signal } = this.#abort;
      const drained = (): void => {
        signal.removeEventListener("abort", aborted);
        resolve();
      };
      const aborted = (): void => {
        this.#stream.off("drain", drained);
        reject(ended());
      };
      this.#stream.once("drain", drained);
      signal.addEventListener("abort", aborted, { once: true });
    });
  }
}

async function goOn(
  writes: Generator<Promise<void>, number, void>,
  first: Promise<void>,
): Promise<number> {
  for (let drained = first; ; ) {
    await drained;
    const next = writes.next();
    if (next.done === true) return next.value;
    drained = next.value;
  }
}

function ended(): CoreError {
  return new CoreError("ERR_ABORTED", "the call was ended");
}

function statusHeaders({ code, message }: GrpcStatus): Record<string, string> {
  const headers = { "grpc-status": String(code) };
  return message === "" ? headers : { ...headers, "grpc-message": encodeGrpcMessage(message) };
}
