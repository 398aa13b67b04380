import type {
  ClientHttp2Session,
  ClientHttp2Stream,
  IncomingHttpHeaders,
  IncomingHttpStatusHeader,
} from "node:http2";
import { CoreError } from "../../core/errors.ts";
import { FrameDecoder } from "../../wire/grpc/frame-decoder.ts";
import { decodeGrpcMessage, GRPC_STATUS } from "../../wire/grpc/status.ts";
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
  readonly #stream: ClientHttp2Stream;
  readonly #decoder: FrameDecoder;
  readonly #reader = new ProtoReader();
  #waiting: Waiting | undefined;
  /** Why it ended; undefined while it goes on. */
  #ended: CoreError | undefined;

  constructor(session: ClientHttp2Session, method: WatchMethod, maxMessageBytes: number) {
    this.#session = session;
    this.#decoder = new FrameDecoder(maxMessageBytes);
    this.#stream = session.request({
      ":method": "POST",
      ":path": method,
      "content-type": "application/grpc",
      te: "trailers",
      "grpc-accept-encoding": "identity",
    });
    this.#stream.on("response", (headers) => this.#onHeaders(headers));
    this.#stream.on("trailers", (headers) => this.#onStatus(headers));
    this.#stream.on("data", (chunk: Buffer) => this.#onData(chunk));
    this.#stream.on("error", (error) => this.#end(lost(error.message, error)));
    this.#stream.on("close", () => this.#end(lost("the connection ended")));
    session.on("error", (error) => this.#end(lost(error.message, error)));
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

  close(): void {
    this.#end(new CoreError("ERR_ABORTED", "the watch was ended"));
  }

  #onHeaders(headers: IncomingHttpHeaders & IncomingHttpStatusHeader): void {
    const status = headers[":status"];
    if (status !== 200) this.#end(protocol(`HTTP status ${status} where 200 belongs`));
    else if (headers["grpc-status"] !== undefined) this.#onStatus(headers);
  }

  #onStatus(headers: IncomingHttpHeaders): void {
    const code = Number(headers["grpc-status"]);
    const message = decodeGrpcMessage(String(headers["grpc-message"] ?? ""));
    if (code === GRPC_STATUS.ok) this.#end(lost("the server ended the watch"));
    else if (code === GRPC_STATUS.unavailable) this.#end(lost(message));
    else this.#end(protocol(`gRPC status ${code}: ${message}`));
  }

  #onData(chunk: Buffer): void {
    if (this.#ended !== undefined) return;
    try {
      this.#decoder.feed(chunk);
      while (this.#decoder.next()) this.#onMessage();
    } catch (error) {
      this.#end(error instanceof CoreError ? error : protocol(String(error), error));
    }
  }

  #onMessage(): void {
    const { bytes, start, end } = this.#decoder;
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

function lost(reason: string, cause?: unknown): CoreError {
  return new CoreError("ERR_API_UNREACHABLE", `the API is lost: ${reason}`, { cause });
}

function protocol(reason: string, cause?: unknown): CoreError {
  return new CoreError("ERR_API_PROTOCOL", `the API answers wrongly: ${reason}`, { cause });
}
