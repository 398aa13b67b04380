import type { ClientHttp2Session } from "node:http2";
import { CoreError, type ErrorCode } from "../../../core/errors.ts";
import { connectHttp2, type Http2Target } from "../../../platform/http2/connect-http2.ts";
import { type GrpcEnd, GrpcStream } from "../../../platform/http2/grpc-stream.ts";
import { DEFAULT_KEEP_ALIVE, keepAlive } from "../../../platform/http2/keep-alive.ts";
import { GRPC_STATUS } from "../../../wire/grpc/status.ts";
import { jsonFrame, readJsonMessage } from "../../../wire/manager/json-message.ts";
import { ProtoReader } from "../../../wire/protobuf/proto-reader.ts";

const SERVICE = "/managerv1.Manager/";
const WORDS = { what: "the manager", code: "ERR_API_UNREACHABLE" } as const;
const CONNECT_TIMEOUT_MS = 10_000;
const CALL_TIMEOUT_MS = 15_000;
const MAX_MESSAGE_BYTES = 16_777_216;

const CODE_OF: ReadonlyMap<number, ErrorCode> = new Map<number, ErrorCode>([
  [GRPC_STATUS.invalidArgument, "ERR_STATE_INVALID"],
  [GRPC_STATUS.notFound, "ERR_NOT_FOUND"],
  [GRPC_STATUS.alreadyExists, "ERR_KEY_TAKEN"],
  [GRPC_STATUS.resourceExhausted, "ERR_EXHAUSTED"],
  [GRPC_STATUS.unauthenticated, "ERR_UNAUTHORIZED"],
  [GRPC_STATUS.unavailable, "ERR_API_UNREACHABLE"],
]);

/** Asks a manager, over one connection. */
export class ManagerClient {
  readonly #session: ClientHttp2Session;
  /** Settles when the connection is over. */
  readonly ended: Promise<void>;

  /**
   * @param signal ends the wait
   * @throws CoreError ERR_API_UNREACHABLE, ERR_CONFIG_INVALID, ERR_ABORTED
   */
  static async connect(target: Http2Target, signal?: AbortSignal): Promise<ManagerClient> {
    const session = await connectHttp2(target, WORDS, CONNECT_TIMEOUT_MS, signal);
    keepAlive(session, DEFAULT_KEEP_ALIVE);
    return new ManagerClient(session);
  }

  private constructor(session: ClientHttp2Session) {
    this.#session = session;
    this.ended = new Promise((resolve) => session.once("close", () => resolve()));
  }

  /** Whether it may be asked; where not, another connection has to be made. */
  get isOpen(): boolean {
    return !this.#session.destroyed && !this.#session.closed;
  }

  /**
   * One of the methods of managerv1.proto, or another one by its path. What the answer holds is the manager's word, not checked here.
   * @throws CoreError ERR_API_UNREACHABLE, ERR_UNAUTHORIZED, ERR_STATE_INVALID, ERR_NOT_FOUND, ERR_KEY_TAKEN, ERR_EXHAUSTED, ERR_API_REFUSED
   */
  call(method: string, request: object): Promise<unknown> {
    if (!this.isOpen) return Promise.reject(lost("the connection ended"));
    return new Promise((resolve, reject) => {
      let answer: { readonly value: unknown } | undefined;
      const stream = new GrpcStream(this.#session, {
        path: method.startsWith("/") ? method : `${SERVICE}${method}`,
        maxMessageBytes: MAX_MESSAGE_BYTES,
        onMessage: ({ bytes, start, end }) => {
          answer ??= { value: readJsonMessage(new ProtoReader().reset(bytes, start, end)) };
        },
        onEnd: (end) => {
          clearTimeout(timer);
          const isOk = end.kind === "status" && end.code === GRPC_STATUS.ok;
          if (isOk && answer !== undefined) resolve(answer.value);
          else reject(errorOf(end));
        },
      });
      const timer = setTimeout(() => {
        stream.cancel();
        reject(lost(`no answer within ${CALL_TIMEOUT_MS} ms`));
      }, CALL_TIMEOUT_MS);
      stream.end(jsonFrame(request));
    });
  }

  close(): void {
    this.#session.destroy();
  }
}

function errorOf(end: GrpcEnd): CoreError {
  if (end.kind !== "status") return lost(end.message, end.cause);
  const code = CODE_OF.get(end.code) ?? "ERR_API_REFUSED";
  return new CoreError(code, end.message === "" ? `gRPC status ${end.code}` : end.message);
}

function lost(reason: string, cause?: unknown): CoreError {
  return new CoreError("ERR_API_UNREACHABLE", `the manager is lost: ${reason}`, { cause });
}
