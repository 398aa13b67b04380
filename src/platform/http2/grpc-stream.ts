import type {
  ClientHttp2Session,
  ClientHttp2Stream,
  IncomingHttpHeaders,
  IncomingHttpStatusHeader,
} from "node:http2";
import { CoreError } from "../../core/errors.ts";
import { FrameDecoder } from "../../wire/grpc/frame-decoder.ts";
import { decodeGrpcMessage } from "../../wire/grpc/status.ts";

/** How a call came to its end. */
export type GrpcEnd =
  /** What the server said. */
  | { readonly kind: "status"; readonly code: number; readonly message: string }
  /** The connection ended. */
  | { readonly kind: "lost"; readonly message: string; readonly cause?: unknown }
  /** What answers does not keep to gRPC, or what it said was refused here. */
  | { readonly kind: "wrong"; readonly message: string; readonly cause?: unknown };

export interface GrpcStreamOptions {
  /** `/package.Service/Method`. */
  readonly path: string;
  readonly maxMessageBytes: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Takes the message that the decoder stands on; what it throws ends the call. */
  readonly onMessage: (message: FrameDecoder) => void;
  /** Called once. */
  readonly onEnd: (end: GrpcEnd) => void;
}

const OK = 200;

/** One gRPC call on the side of the client, with any number of messages both ways. */
export class GrpcStream {
  readonly #stream: ClientHttp2Stream;
  readonly #decoder: FrameDecoder;
  readonly #options: GrpcStreamOptions;
  #isOver = false;

  constructor(session: ClientHttp2Session, options: GrpcStreamOptions) {
    this.#options = options;
    this.#decoder = new FrameDecoder(options.maxMessageBytes);
    this.#stream = session.request({
      ":method": "POST",
      ":path": options.path,
      "content-type": "application/grpc",
      te: "trailers",
      "grpc-accept-encoding": "identity",
      ...options.headers,
    });
    this.#stream.on("response", (headers) => this.#onHeaders(headers));
    this.#stream.on("trailers", (headers) => this.#onStatus(headers));
    this.#stream.on("data", (chunk: Buffer) => this.#onData(chunk));
    const lost = (cause: Error): void => {
      this.#end({ kind: "lost", message: cause.message, cause });
    };
    const closed = (): void => this.#end({ kind: "lost", message: "the connection ended" });
    this.#stream.on("error", lost);
    this.#stream.on("close", () => {
      session.off("error", lost);
      closed();
    });
    session.on("error", lost);
  }

  /** Sends a message with its header. */
  write(frame: Uint8Array): void {
    if (!this.#isOver) this.#stream.write(frame);
  }

  /** Sends one more message and says that it was the last. */
  end(frame: Uint8Array): void {
    if (!this.#isOver) this.#stream.end(frame);
  }

  /** Ends it without another word from the server; `onEnd` is not called. */
  cancel(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stream.close();
  }

  #onHeaders(headers: IncomingHttpHeaders & IncomingHttpStatusHeader): void {
    const status = headers[":status"];
    if (status !== OK) {
      this.#end({ kind: "wrong", message: `HTTP status ${status} where 200 belongs` });
    } else if (headers["grpc-status"] !== undefined) this.#onStatus(headers);
  }

  #onStatus(headers: IncomingHttpHeaders): void {
    const code = Number(headers["grpc-status"]);
    const message = decodeGrpcMessage(String(headers["grpc-message"] ?? ""));
    this.#end({ kind: "status", code, message });
  }

  #onData(chunk: Buffer): void {
    if (this.#isOver) return;
    try {
      this.#decoder.feed(chunk);
      while (!this.#isOver && this.#decoder.next()) this.#options.onMessage(this.#decoder);
    } catch (cause) {
      const message = cause instanceof CoreError ? cause.message : String(cause);
      this.#end({ kind: "wrong", message, cause });
    }
  }

  #end(end: GrpcEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (end.kind === "wrong") this.#stream.close();
    this.#options.onEnd(end);
  }
}
