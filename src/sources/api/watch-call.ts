import type { ClientHttp2Session } from "node:http2";
import { CoreError } from "../../core/errors.ts";
import { type GrpcEnd, GrpcStream } from "../../platform/http2/grpc-stream.ts";
import type { FrameDecoder } from "../../wire/grpc/frame-decoder.ts";
import { GRPC_STATUS } from "../../wire/grpc/status.ts";
import { ProtoReader } from "../../wire/protobuf/proto-reader.ts";
import { type RawOp, readOpItem } from "../../wire/sets/op-item.ts";

/** The methods of the API that can be watched. */
export type WatchMethod = "/localv1.Sets/Watch" | "/globalv1.Sets/Watch";

/** An operation of a change; `sync` ends it and is not among them. */
export type ChangeOp = Exclude<RawOp, { op: "sync" | "unknown" }>;

/** Takes an operation; `reader` gives its value, see `RawOp`. */
type OnOp = (op: ChangeOp, reader: ProtoReader) => void;

interface Waiting {
  readonly onOp: OnOp;
  readonly resolve: () => void;
  readonly reject: (error: CoreError) => void;
}

/** One watch on one connection: each request earns one change. It ends with its connection. */
export class WatchCall {
  readonly #session: ClientHttp2Session;
  readonly #stream: GrpcStream;
  readonly #reader = new ProtoReader();
  #waiting: Waiting | undefined;
  /** Why it ended; undefined while it goes on. */
  #ended: CoreError | undefined;

  constructor(session: ClientHttp2Session, method: WatchMethod, maxMessageBytes: number) {
    this.#session = session;
    this.#stream = new GrpcStream(session, {
      path: method,
      maxMessageBytes,
      onMessage: (message) => this.#onMessage(message),
      onEnd: (end) => this.#end(errorOf(end)),
    });
  }

  /**
   * Asks for the next change and tells its operations as they come. Rejects where the call ends
   * before the change is complete, or where `onOp` throws.
   */
  change(request: Uint8Array, onOp: OnOp): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) {
        reject(this.#ended);
        return;
      }
      this.#waiting = { onOp, resolve, reject };
      this.#stream.write(request);
    });
  }

  /** Says another request in place of the one that waits, where one does; both earn one change. */
  replace(request: Uint8Array): void {
    if (this.#waiting !== undefined) this.#stream.write(request);
  }

  close(): void {
    this.#end(new CoreError("ERR_ABORTED", "the watch was ended"));
  }

  #onMessage({ bytes, start, end }: FrameDecoder): void {
    const op = readOpItem(this.#reader.reset(bytes, start, end));
    if (op.op === "unknown") return;
    const waiting = this.#waiting;
    if (waiting === undefined) throw protocol("an operation that no request asked for");
    if (op.op === "sync") {
      this.#waiting = undefined;
      waiting.resolve();
    } else waiting.onOp(op, this.#reader);
  }

  #end(error: CoreError): void {
    if (this.#ended !== undefined) return;
    this.#ended = error;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    this.#session.destroy();
    waiting?.reject(error);
  }
}

function errorOf(end: GrpcEnd): CoreError {
  if (end.kind === "lost") return lost(end.message, end.cause);
  if (end.kind === "wrong") {
    return end.cause instanceof CoreError ? end.cause : protocol(end.message, end.cause);
  }
  if (end.code === GRPC_STATUS.ok) return lost("the server ended the watch");
  if (end.code === GRPC_STATUS.unavailable) return lost(end.message);
  if (end.code === GRPC_STATUS.unauthenticated) {
    return new CoreError("ERR_UNAUTHORIZED", `the API refuses this client: ${end.message}`);
  }
  return protocol(`gRPC status ${end.code}: ${end.message}`);
}

function lost(reason: string, cause?: unknown): CoreError {
  return new CoreError("ERR_API_UNREACHABLE", `the API is lost: ${reason}`, { cause });
}

function protocol(reason: string, cause?: unknown): CoreError {
  return new CoreError("ERR_API_PROTOCOL", `the API answers wrongly: ${reason}`, { cause });
}
