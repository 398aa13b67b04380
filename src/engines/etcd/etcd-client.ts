import type { ClientHttp2Session } from "node:http2";
import { CoreError } from "../../core/errors.ts";
import { GrpcStream } from "../../platform/http2/grpc-stream.ts";
import {
  type Compare,
  type RangeRequest,
  type RangeResponse,
  rangeFrame,
  readRangeResponse,
  readTxnResponse,
  type TxnResponse,
  txnFrame,
  type WriteOp,
} from "../../wire/etcd/kv-messages.ts";
import {
  authenticateFrame,
  type LeaseResponse,
  leaseGrantFrame,
  leaseIdFrame,
  readLeaseResponse,
  readToken,
} from "../../wire/etcd/lease-messages.ts";
import { GRPC_STATUS } from "../../wire/grpc/status.ts";
import { ProtoReader } from "../../wire/protobuf/proto-reader.ts";
import { type EtcdFailure, ended, failureOf, isNotEnabled, unreachable } from "./etcd-errors.ts";
import { ETCD_LIMITS, type EtcdClientOptions, type EtcdLimits } from "./etcd-options.ts";
import type { Member } from "./member.ts";
import { Members } from "./members.ts";
import { orOverdue, overdue } from "./or-overdue.ts";

/** etcd takes 128 operations in a transaction; as many transactions of as many operations fit into one. */
const TXN_WIDTH = 60;
export const MAX_TXN_OPS: number = TXN_WIDTH * TXN_WIDTH;
export const MAX_TXN_COMPARES: number = TXN_WIDTH;
const MS_PER_SECOND = 1000;

interface UnaryCall<T> {
  readonly path: string;
  readonly frame: Uint8Array;
  readonly read: (reader: ProtoReader) => T;
  /** Over all members. */
  readonly deadlineMs?: number | undefined;
}

/** An outcome of one try at one member. */
type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: EtcdFailure; readonly error: CoreError };

export interface StreamOptions {
  readonly path: string;
  readonly first: Uint8Array;
  readonly onMessage: (reader: ProtoReader) => void;
  /** Called once, not after `close`. */
  readonly onEnd: (error: CoreError) => void;
}

export interface OpenStream {
  readonly member: string;
  /** It does what it should: the member is the one to ask. */
  worked(): void;
  close(): void;
}

/**
 * A client of etcd, version 3, over several members. A call goes to another member where one fails, until
 * its deadline. It may so be done twice: the compares of a transaction have to make that harmless.
 */
export class EtcdClient {
  readonly limits: EtcdLimits;
  readonly #options: EtcdClientOptions;
  readonly #members: Members;
  readonly #closed = new AbortController();
  #token: Promise<string | undefined> | undefined;

  constructor(options: EtcdClientOptions) {
    this.#options = options;
    this.limits = { ...ETCD_LIMITS, ...options.limits };
    this.#members = new Members(options, this.limits);
  }

  /** Aborted when it is closed. */
  get signal(): AbortSignal {
    return this.#closed.signal;
  }

  get random(): () => number {
    return this.#options.random;
  }

  /** @throws CoreError ERR_ABORTED once it is closed */
  async sleep(ms: number): Promise<void> {
    await this.#options.sleep(ms, this.signal).catch(() => {
      throw ended();
    });
  }

  /** @throws CoreError ERR_ETCD_UNREACHABLE, ERR_ETCD_REFUSED, ERR_ETCD_COMPACTED, ERR_ETCD_PROTOCOL, ERR_ABORTED */
  range(request: RangeRequest): Promise<RangeResponse> {
    const path = "/etcdserverpb.KV/Range";
    return this.#call({ path, frame: rangeFrame(request), read: readRangeResponse });
  }

  /** All operations where all compares hold, nothing otherwise. Up to `MAX_TXN_OPS`. */
  transact(compares: readonly Compare[], ops: readonly WriteOp[]): Promise<TxnResponse> {
    const frame = txnFrame(compares, ops, TXN_WIDTH);
    return this.#call({ path: "/etcdserverpb.KV/Txn", frame, read: readTxnResponse });
  }

  grantLease(ttlSeconds: number): Promise<LeaseResponse> {
    const frame = leaseGrantFrame(ttlSeconds);
    return this.#call({ path: "/etcdserverpb.Lease/LeaseGrant", frame, read: readLeaseResponse });
  }

  /** @returns how long it lives on; 0 or less where it is gone */
  renewLease(id: bigint, deadlineMs: number): Promise<LeaseResponse> {
    const path = "/etcdserverpb.Lease/LeaseKeepAlive";
    return this.#call({ path, frame: leaseIdFrame(id), read: readLeaseResponse, deadlineMs });
  }

  /** With it goes all that is bound to it. */
  async revokeLease(id: bigint, deadlineMs: number): Promise<void> {
    const path = "/etcdserverpb.Lease/LeaseRevoke";
    await this.#call({ path, frame: leaseIdFrame(id), read: () => undefined, deadlineMs });
  }

  /**
   * Opens a call that goes on, at one member, which has to have a leader.
   * @throws CoreError where no member can be asked at this moment, ERR_ABORTED
   */
  async openStream(options: StreamOptions): Promise<OpenStream> {
    const member = await this.#members.choose(this.signal);
    try {
      const session = await member.connect();
      const headers = { hasleader: "true", ...(await this.#authorization()) };
      if (this.signal.aborted) throw ended();
      return this.#streamOn(session, member, headers, options);
    } catch (error) {
      this.#members.failed(member, error);
      throw error;
    }
  }

  /** Who asks has to be said anew. */
  forgetToken(): void {
    this.#token = undefined;
  }

  close(): void {
    this.#closed.abort();
    this.#members.close();
  }

  #streamOn(
    session: ClientHttp2Session,
    member: Member,
    headers: Readonly<Record<string, string>>,
    { path, first, onMessage, onEnd }: StreamOptions,
  ): OpenStream {
    const reader = new ProtoReader();
    let isOpen = true;
    const closed = (): void => {
      if (isOpen) member.streamClosed();
      isOpen = false;
    };
    const stream = new GrpcStream(session, {
      path,
      headers,
      maxMessageBytes: this.limits.maxMessageBytes,
      onMessage: ({ bytes, start, end }) => onMessage(reader.reset(bytes, start, end)),
      onEnd: (end) => {
        closed();
        const { failure, error } = failureOf(end);
        if (failure === "elsewhere") this.#members.failed(member, error);
        if (failure === "token") this.forgetToken();
        onEnd(error);
      },
    });
    member.streamOpened();
    stream.write(first);
    return {
      member: member.name,
      worked: () => this.#members.worked(member),
      close: () => {
        closed();
        stream.cancel();
      },
    };
  }

  async #call<T>(call: UnaryCall<T>): Promise<T> {
    const { deadlineMs = this.limits.deadlineMs } = call;
    // Not AbortSignal.timeout: of one that only `any` knows, Node 20 forgets the timer.
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), deadlineMs);
    try {
      return await this.#callUntil(call, performance.now() + deadlineMs, deadline.signal);
    } finally {
      clearTimeout(timer);
    }
  }

  async #callUntil<T>(call: UnaryCall<T>, endMs: number, deadline: AbortSignal): Promise<T> {
    const signal = AbortSignal.any([this.signal, deadline]);
    let last: CoreError | undefined;
    let hasRenewed = false;
    for (;;) {
      const member = await this.#members.choose(signal).catch((error: unknown) => {
        throw this.signal.aborted ? error : this.#members.whyNot(last ?? overdue());
      });
      const startMs = performance.now();
      const outcome = await this.#try(member, call, endMs - startMs, signal);
      this.#options.onCall?.(
        nameOf(call),
        (performance.now() - startMs) / MS_PER_SECOND,
        outcome.ok,
      );
      if (outcome.ok) {
        this.#members.worked(member);
        return outcome.value;
      }
      const { failure, error } = outcome;
      last = error;
      if (this.signal.aborted) throw ended();
      if (failure === "elsewhere") this.#members.failed(member, error);
      else if (failure === "token" && !hasRenewed && this.#options.credentials !== undefined) {
        hasRenewed = true;
        this.forgetToken();
      } else throw error;
    }
  }

  async #try<T>(
    member: Member,
    call: UnaryCall<T>,
    leftMs: number,
    signal: AbortSignal,
  ): Promise<Outcome<T>> {
    try {
      const session = await orOverdue(member.connect(), signal);
      const authorization = await orOverdue(this.#authorization(), signal);
      return await this.#unary(session, call, authorization, leftMs);
    } catch (cause) {
      const error = cause instanceof CoreError ? cause : unreachable(String(cause), cause);
      const isElsewhere = error.code === "ERR_ETCD_UNREACHABLE";
      return { ok: false, failure: isElsewhere ? "elsewhere" : "final", error };
    }
  }

  #unary<T>(
    session: ClientHttp2Session,
    { path, frame, read }: UnaryCall<T>,
    authorization: Readonly<Record<string, string>>,
    leftMs: number,
  ): Promise<Outcome<T>> {
    const { callTimeoutMs } = this.limits;
    const timeoutMs = Math.ceil(Math.max(1, Math.min(callTimeoutMs, leftMs)));
    return new Promise((resolve) => {
      let answer: { readonly value: T } | undefined;
      const settle = (outcome: Outcome<T>): void => {
        clearTimeout(timer);
        resolve(outcome);
      };
      const stream = new GrpcStream(session, {
        path,
        headers: { "grpc-timeout": `${timeoutMs}m`, ...authorization },
        maxMessageBytes: this.limits.maxMessageBytes,
        onMessage: ({ bytes, start, end }) => {
          answer ??= { value: read(new ProtoReader().reset(bytes, start, end)) };
        },
        onEnd: (end) => {
          const isOk = end.kind === "status" && end.code === GRPC_STATUS.ok;
          if (isOk && answer !== undefined) settle({ ok: true, value: answer.value });
          else settle({ ok: false, ...failureOf(end) });
        },
      });
      const timer = setTimeout(() => {
        stream.cancel();
        const isLate = leftMs < callTimeoutMs;
        const error = isLate ? overdue() : unreachable(`no answer within ${timeoutMs} ms`);
        settle({ ok: false, failure: "elsewhere", error });
      }, timeoutMs);
      stream.end(frame);
    });
  }

  /** What says who asks; it is found out once, also where many ask at the same time. */
  async #authorization(): Promise<Readonly<Record<string, string>>> {
    const { credentials } = this.#options;
    if (credentials === undefined) return {};
    this.#token ??= this.#authenticate(credentials.user, credentials.password).catch(
      (error: unknown) => {
        this.#token = undefined;
        throw error;
      },
    );
    const token = await this.#token;
    return token === undefined ? {} : { token };
  }

  /** Undefined where etcd asks nobody who they are. */
  async #authenticate(user: string, password: string): Promise<string | undefined> {
    const member = await this.#members.choose(this.signal);
    const call = {
      path: "/etcdserverpb.Auth/Authenticate",
      frame: authenticateFrame(user, password),
      read: readToken,
    };
    const { callTimeoutMs } = this.limits;
    const outcome = await this.#unary(await member.connect(), call, {}, callTimeoutMs);
    if (outcome.ok) return outcome.value;
    if (isNotEnabled(outcome.error)) return undefined;
    throw outcome.error;
  }
}

/** `/etcdserverpb.KV/Range` is `Range`. */
function nameOf({ path }: { readonly path: string }): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
