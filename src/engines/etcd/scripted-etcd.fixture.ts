import { createServer, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { decodeEtcd, type EtcdMessage, encodeEtcd } from "../../wire/etcd/etcd-messages.fixture.ts";
import { EtcdClient } from "./etcd-client.ts";
import type { EtcdClientOptions } from "./etcd-options.ts";

/** By the last word of a path: what is asked with, and what is answered. */
const MESSAGES: Readonly<Record<string, readonly [request: string, response: string]>> = {
  Range: ["RangeRequest", "RangeResponse"],
  Txn: ["TxnRequest", "TxnResponse"],
  Watch: ["WatchRequest", "WatchResponse"],
  LeaseGrant: ["LeaseGrantRequest", "LeaseGrantResponse"],
  LeaseKeepAlive: ["LeaseKeepAliveRequest", "LeaseKeepAliveResponse"],
  LeaseRevoke: ["LeaseRevokeRequest", "LeaseRevokeResponse"],
  Authenticate: ["AuthenticateRequest", "AuthenticateResponse"],
};

const FRAME_HEADER_BYTES = 5;
const OK = 0;

export interface ScriptedCall {
  /** `Range`. */
  readonly method: string;
  readonly request: EtcdMessage;
  /** What the caller shows to say who it is. */
  readonly token: string | undefined;
  /** Sends a message; more may follow. */
  send(message: EtcdMessage): void;
  /** Sends a message and ends the call well. */
  reply(message: EtcdMessage): void;
  /** Ends the call as gRPC has it. */
  fail(code: number, text: string): void;
  /** Breaks the connection. */
  drop(): void;
}

export interface ScriptedEtcd {
  readonly port: number;
  /** How often somebody connected. */
  connections(): number;
}

/** What speaks as etcd does and answers what a test wants, where the real one can not be brought to it. */
export async function scriptEtcd(
  answer: (call: ScriptedCall) => void,
  host = "127.0.0.1",
): Promise<ScriptedEtcd> {
  const server = createServer();
  const sessions = new Set<ServerHttp2Session>();
  let connections = 0;
  server.on("session", (session) => {
    connections += 1;
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
  });
  server.on("stream", (stream, headers) => {
    const token = headers["token"];
    const method = String(headers[":path"]).replace(/^.*\//, "");
    stream.on("error", () => undefined);
    stream.once("data", (frame: Buffer) => {
      answer(callOf(stream, method, frame, typeof token === "string" ? token : undefined));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  onTestFinished(() => {
    for (const session of sessions) session.destroy();
    server.close();
  });
  return { port: portOf(server.address()), connections: () => connections };
}

function callOf(
  stream: ServerHttp2Stream,
  method: string,
  frame: Buffer,
  token: string | undefined,
): ScriptedCall {
  const [request, response] = MESSAGES[method] ?? ["", ""];
  const respond = (trailers: Readonly<Record<string, string>>): void => {
    if (stream.destroyed) return;
    if (!stream.headersSent) {
      stream.respond({ "content-type": "application/grpc" }, { waitForTrailers: true });
    }
    stream.once("wantTrailers", () => stream.sendTrailers({ ...trailers }));
    stream.end();
  };
  const send = (message: EtcdMessage): void => {
    if (stream.destroyed) return;
    if (!stream.headersSent) {
      stream.respond({ "content-type": "application/grpc" }, { waitForTrailers: true });
    }
    const bytes = encodeEtcd(response, message);
    const header = Buffer.alloc(FRAME_HEADER_BYTES);
    header.writeUInt32BE(bytes.length, 1);
    stream.write(Buffer.concat([header, bytes]));
  };
  return {
    method,
    request: decodeEtcd(request, frame.subarray(FRAME_HEADER_BYTES)),
    token,
    send,
    reply: (message) => {
      send(message);
      respond({ "grpc-status": String(OK) });
    },
    fail: (code, text) =>
      respond({ "grpc-status": String(code), "grpc-message": encodeURIComponent(text) }),
    drop: () => stream.session?.destroy(),
  };
}

export function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === "string") throw new TypeError("no port");
  return address.port;
}

/** A client of these that begins with the first of them and ends with the test. */
export function clientOf(
  ports: readonly number[],
  options: Partial<EtcdClientOptions> = {},
): EtcdClient {
  const client = new EtcdClient({
    members: ports.map((port) => ({ kind: "tcp", host: "127.0.0.1", port })),
    random: () => 0,
    sleep: async (ms, signal) => {
      await delay(ms, undefined, { signal });
    },
    ...options,
    limits: { backoff: { firstMs: 1, maxMs: 1 }, ...options.limits },
  });
  onTestFinished(() => client.close());
  return client;
}
