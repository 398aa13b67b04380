import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import { CoreError, type ErrorCode } from "../core/errors.ts";
import type { Log } from "../core/log.ts";
import type { GlobalStore } from "../core/store/global-store.ts";
import { GRPC_STATUS, type GrpcStatus } from "../wire/grpc/status.ts";
import type { ApiGate, Caller } from "./api-gate.ts";
import { FrameEncoder } from "./frame-encoder.ts";
import { GrpcCall, refuseCall } from "./grpc-call.ts";
import { serveJson } from "./json-call.ts";
import { StoreWaiters } from "./store-waiters.ts";
import { serveNodeWatch, serveObjectWatch, type WatchContext } from "./watch-calls.ts";

type Serve = (call: GrpcCall, context: WatchContext) => Promise<void>;

const METHODS: ReadonlyMap<string, Serve> = new Map([
  ["/localv1.Sets/Watch", serveNodeWatch],
  ["/globalv1.Sets/Watch", serveObjectWatch],
]);

export interface ApiCallLimits {
  readonly maxMessageBytes: number;
  readonly maxCalls: number;
  readonly cacheBytes: number;
}

/** What clients are told beyond that it failed. */
const STATUS_OF: Partial<Record<ErrorCode, number>> = {
  ERR_API_PROTOCOL: GRPC_STATUS.invalidArgument,
  ERR_STATE_INVALID: GRPC_STATUS.invalidArgument,
  ERR_API_MESSAGE_TOO_LARGE: GRPC_STATUS.resourceExhausted,
  ERR_EXHAUSTED: GRPC_STATUS.resourceExhausted,
  ERR_UNAUTHORIZED: GRPC_STATUS.unauthenticated,
  ERR_NOT_FOUND: GRPC_STATUS.notFound,
  ERR_KEY_TAKEN: GRPC_STATUS.alreadyExists,
  ERR_ADDRESS_TAKEN: GRPC_STATUS.alreadyExists,
  ERR_ETCD_UNREACHABLE: GRPC_STATUS.unavailable,
};

/** The calls of one API server: takes them in, serves them, ends them. */
export class ApiCalls {
  readonly #context: WatchContext;
  readonly #limits: ApiCallLimits;
  readonly #log: Log | undefined;
  readonly #gate: ApiGate | undefined;
  readonly #open = new Set<GrpcCall>();
  #changesSent = 0;
  #messagesSent = 0;

  constructor(
    store: GlobalStore,
    limits: ApiCallLimits,
    { log, gate }: { readonly log?: Log | undefined; readonly gate?: ApiGate | undefined },
  ) {
    this.#gate = gate;
    this.#context = {
      store,
      waiters: new StoreWaiters(store),
      encoder: new FrameEncoder(limits.cacheBytes, () => this.#open.size > 1),
      onSent: (messages) => {
        this.#changesSent += 1;
        this.#messagesSent += messages;
      },
    };
    this.#limits = limits;
    this.#log = log;
  }

  get stats(): { watchers: number; changesSent: number; messagesSent: number } {
    return {
      watchers: this.#open.size,
      changesSent: this.#changesSent,
      messagesSent: this.#messagesSent,
    };
  }

  accept(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, caller: Caller): void {
    stream.on("error", (error) => this.#log?.debug({ err: error }, "API call failed"));
    if (headers[":method"] !== "POST" || !isGrpc(headers["content-type"])) {
      stream.respond({ ":status": 415 }, { endStream: true });
      return;
    }
    const method = String(headers[":path"]);
    const serve = this.#serverOf(method, caller);
    if (serve === undefined) {
      const known = [...METHODS.keys(), ...(this.#gate?.methods.keys() ?? [])].join(" and ");
      const message = `method ${method} is not known; expected ${known}`;
      refuseCall(stream, { code: GRPC_STATUS.unimplemented, message });
      return;
    }
    if (this.#open.size >= this.#limits.maxCalls) {
      const message = `${this.#open.size} calls are open; expected fewer than that at a time`;
      refuseCall(stream, { code: GRPC_STATUS.resourceExhausted, message });
      return;
    }
    void this.#serve(new GrpcCall(stream, this.#limits.maxMessageBytes), serve);
  }

  /** Ends all calls: the server goes away, others may serve. */
  endAll(): void {
    for (const call of this.#open) {
      call.end({ code: GRPC_STATUS.unavailable, message: "the server is shutting down" });
    }
  }

  #serverOf(method: string, caller: Caller): Serve | undefined {
    const gate = this.#gate;
    const watch = METHODS.get(method);
    if (gate === undefined) return watch;
    if (watch !== undefined) {
      const assertMayWatch = (node: string | undefined): void => gate.assertMayWatch(caller, node);
      return (call, context) => watch(call, { ...context, assertMayWatch });
    }
    const answer = gate.methods.get(method);
    return answer && ((call) => serveJson(call, (request) => answer(caller, request)));
  }

  async #serve(call: GrpcCall, serve: Serve): Promise<void> {
    this.#open.add(call);
    try {
      await serve(call, this.#context);
      call.end({ code: GRPC_STATUS.ok, message: "" });
    } catch (error) {
      if (!call.signal.aborted) call.end(this.#statusOf(error));
    } finally {
      this.#open.delete(call);
    }
  }

  #statusOf(error: unknown): GrpcStatus {
    if (error instanceof CoreError) {
      const { code, message } = error;
      const status = STATUS_OF[code];
      if (status !== undefined) return { code: status, message };
    }
    this.#log?.error({ err: error }, "API call failed");
    return { code: GRPC_STATUS.internal, message: "the call failed; see the log of the server" };
  }
}

function isGrpc(contentType: string | undefined): boolean {
  return /^application\/grpc(?:\+proto)?(?:;|$)/.test(contentType ?? "");
}
