import type { ProtoReader } from "../protobuf/proto-reader.ts";
import { frame } from "./kv-messages.ts";

export interface LeaseResponse {
  readonly id: bigint;
  /** How long it lives on; 0 or less: it is gone. */
  readonly ttlSeconds: number;
}

export function leaseGrantFrame(ttlSeconds: number): Buffer {
  return frame((writer) => writer.uint64(1, BigInt(ttlSeconds)));
}

/** For a renewal and for an end. */
export function leaseIdFrame(id: bigint): Buffer {
  return frame((writer) => writer.uint64(1, id));
}

/** Of a grant and of a renewal. */
export function readLeaseResponse(reader: ProtoReader): LeaseResponse {
  let id = 0n;
  let ttlSeconds = 0;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 2) id = reader.int64();
    else if (field === 3) ttlSeconds = Number(reader.int64());
    else reader.skip();
  }
  return { id, ttlSeconds };
}

export function authenticateFrame(user: string, password: string): Buffer {
  return frame((writer) => {
    writer.string(1, user);
    writer.string(2, password);
  });
}

/** The token that further calls carry. */
export function readToken(reader: ProtoReader): string {
  let token = "";
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 2) token = reader.string();
    else reader.skip();
  }
  return token;
}
