import { hashBytes } from "../core/model/hash.ts";
import type { ModelObject } from "../core/model/object.ts";
import type { NodeEndpoint, NodeService, SetOp } from "../core/view/ops.ts";
import { ProtoWriter } from "../wire/protobuf/proto-writer.ts";
import { writeNodeEndpoint } from "../wire/sets/endpoint-writer.ts";
import { globalPathOf } from "../wire/sets/global-path.ts";
import { GlobalWriter } from "../wire/sets/global-writer.ts";
import { jsonBytesOf } from "../wire/sets/json-value.ts";
import { beginSet, endSet, writeDelete, writeReset, writeSync } from "../wire/sets/op-item.ts";
import type { Scopes } from "../wire/sets/scopes.ts";
import { writeService } from "../wire/sets/service-writer.ts";
import { FURTHER_KIND_ID, SET_ID } from "../wire/sets/set-id.ts";
import { FrameCache } from "./frame-cache.ts";

/** A write to a client and some more. */
const INITIAL_BYTES = 131_072;

/** The sets that travel as the JSON of their objects. */
export type FurtherSetOp = Exclude<SetOp, { set: "services" | "endpoints" }>;

/**
 * Makes the gRPC messages of both APIs, one after the other in one buffer, from which `take` takes
 * them. All calls share it: who makes messages takes them before anyone else has a turn.
 */
export class FrameEncoder {
  readonly #out = new ProtoWriter(INITIAL_BYTES);
  readonly #global = new GlobalWriter(hashBytes);
  readonly #cache: FrameCache;
  /** Of further sets: the same object has another message in the global API. */
  readonly #furtherCache: FrameCache;
  readonly #isShared: () => boolean;

  /**
   * @param cacheBytes what messages may take that are kept for other watchers
   * @param isShared whether there are several watchers: for one alone, keeping would only cost
   */
  constructor(cacheBytes: number, isShared: () => boolean) {
    this.#cache = new FrameCache(cacheBytes);
    this.#furtherCache = new FrameCache(cacheBytes);
    this.#isShared = isShared;
  }

  /** Bytes that were made and not taken. */
  get length(): number {
    return this.#out.length;
  }

  /** Takes all that was made since the last time. */
  take(): Buffer {
    const bytes = Buffer.from(this.#out.view());
    this.#out.clear();
    return bytes;
  }

  /** Drops what was made and not taken. */
  clear(): void {
    this.#out.clear();
  }

  sync(): void {
    writeSync(this.#out);
  }

  reset(): void {
    writeReset(this.#out);
  }

  deletion(setId: number, path: string): void {
    writeDelete(this.#out, setId, path);
  }

  nodeService(value: NodeService): void {
    if (this.#again(value)) return;
    const start = this.#out.length;
    beginSet(this.#out, SET_ID.services, value.key);
    writeService(this.#out, value.service, "resolved", value.usable, value.ending);
    endSet(this.#out);
    this.#keep(start, value);
  }

  /** @param scopes undefined for clients that know our fields */
  nodeEndpoint(value: NodeEndpoint, scopes: Scopes | undefined): void {
    if (this.#again(value, scopes)) return;
    const start = this.#out.length;
    beginSet(this.#out, SET_ID.endpoints, value.path);
    writeNodeEndpoint(this.#out, value, scopes);
    endSet(this.#out);
    this.#keep(start, value, scopes);
  }

  furtherSet(op: FurtherSetOp): void {
    const kept = this.#furtherCache.get(op.value);
    if (kept !== undefined) {
      this.#out.raw(kept);
      return;
    }
    const start = this.#out.length;
    beginSet(this.#out, SET_ID[op.set], op.path);
    this.#out.raw(jsonBytesOf(op.value));
    endSet(this.#out);
    if (this.#isShared()) this.#furtherCache.set(op.value, undefined, this.#out.view(start));
  }

  /** An object of the global API under its own path. */
  object(object: ModelObject): void {
    if (this.#again(object)) return;
    const start = this.#out.length;
    this.objectAt(object, globalPathOf(object));
    this.#keep(start, object);
  }

  /** The same under another path. */
  objectAt(object: ModelObject, path: string): void {
    beginSet(this.#out, globalSetIdOf(object), path);
    this.#writeObject(object);
    endSet(this.#out);
  }

  #writeObject(object: ModelObject): void {
    switch (object.kind) {
      case "Service":
        this.#global.writeServiceInfo(this.#out, object);
        return;
      case "Endpoint":
        this.#global.writeEndpointInfo(this.#out, object);
        return;
      case "Node":
        this.#global.writeNodeInfo(this.#out, object);
        return;
      default:
        this.#out.raw(jsonBytesOf(object));
    }
  }

  /** Writes the message that was kept for the value, where there is one. */
  #again(value: object, scopes?: Scopes): boolean {
    const frame = this.#cache.get(value, scopes);
    if (frame === undefined) return false;
    this.#out.raw(frame);
    return true;
  }

  #keep(start: number, value: object, scopes?: Scopes): void {
    if (this.#isShared()) this.#cache.set(value, scopes, this.#out.view(start));
  }
}

/** The number of the set that an object of the global API is in. */
export function globalSetIdOf(object: ModelObject): number {
  switch (object.kind) {
    case "Service":
      return SET_ID.globalServices;
    case "Endpoint":
      return SET_ID.globalEndpoints;
    case "Node":
      return SET_ID.globalNodes;
    default:
      return FURTHER_KIND_ID[object.kind];
  }
}
