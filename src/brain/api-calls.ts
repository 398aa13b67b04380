import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import { CoreError } from "../core/errors.ts";
import type { Log } from "../core/log.ts";
import type { GlobalStore } from "../core/store/global-store.ts";
import { GRPC_STATUS, type GrpcStatus } from "../wire/grpc/status.ts";
import { FrameEncoder } from "./frame-encoder.ts";
import { GrpcCall, refuseCall } from "./grpc-call.ts";
import { serveNodeWatch, serveObjectWatch, type WatchContext } from "./watch-calls.ts";

const METHODS: ReadonlyMap<string, (call: GrpcCall, context: WatchContext) => Promise<void>> =
  new Map([
    ["/localv1.Sets/Watch", serveNodeWatch],
    ["/globalv1.Sets/Watch", serveObjectWatch],
  ]);

export interface ApiCallLimits {
  readonly maxMessageBytes: number;
  readonly maxCalls: number;
  readonly cacheBytes: number;
}

/** The calls of one API server: takes them in, serves them, ends them. */
export class ApiCalls {
  readonly #context: WatchContext;
  readonly #limits: ApiCallLimits;
  readonly #log: Log | undefined;
  readonly #open = new Set<GrpcCall>();
  #changesSent = 0;
  #messagesSent = 0;

  constructor(store: GlobalStore, limits: ApiCallLimits, log: Log | undefined) {
    this.#context = {
      store,
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

  accept(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    stream.on("error", (error) => this.#log?.debug({ err: error }, "API call failed"));
    if (headers[":method"] !== "POST" || !isGrpc(headers["content-type"])) {
      stream.respond({ ":status": 415 }, { endStream: true });
      return;
    }
    const method = String(headers[":path"]);
    const serve = METHODS.get(method);
    if (serve === undefined) {
      const known = [...METHODS.keys()].join(" and ");
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

  async #serve(
    call: GrpcCall,
    serve: (call: GrpcCall, context: WatchContext) => Promise<void>,
  ): Promise<void> {
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
      if (code === "ERR_API_PROTOCOL") return { code: GRPC_STATUS.invalidArgument, message };
      if (code === "ERR_API_MESSAGE_TOO_LARGE") {
        return { code: GRPC_STATUS.resourceExhausted, message };
      }
    }
    this.#log?.error({ err: error }, "API call failed");
    return { code: GRPC_STATUS.internal, message: "the call failed; see the log of the server" };
  }
}

function isGrpc(contentType: string | undefined): boolean {
  return /^application\/grpc(?:\+proto)?(?:;|$)/.test(contentType ?? "");
}
