import type { IncomingMessage } from "node:http";
import { CoreError } from "../../core/errors.ts";
import { bodyChunks } from "./body-chunks.ts";
import type { KubeClient } from "./kube-client.ts";
import { LineSplitter } from "./line-splitter.ts";
import type { Refusal } from "./read-refusal.ts";
import type { ResourceQuery } from "./resource-query.ts";
import { parseWatchEvent, type WatchEvent } from "./watch-event.ts";

export interface WatchRequest {
  readonly resource: ResourceQuery;
  /** What is newer than this is told. */
  readonly version: string;
  /** After that time the server ends it by itself. */
  readonly timeoutSeconds: number;
  readonly maxLineBytes: number;
  /** So long nothing may arrive; a server sends a bookmark a minute. */
  readonly idleTimeoutMs: number;
}

export interface WatchTaker {
  /** The server began to answer. */
  opened(): void;
  event(event: Exclude<WatchEvent, { readonly type: "error" | "unknown" }>): void;
  /** All that came at once was told. */
  pause(): void;
}

/** How a watch ended: by itself or broken off, in both cases it can go on; or the server said why. */
export type WatchOutcome =
  | { readonly kind: "ended" }
  | { readonly kind: "refused"; readonly refusal: Refusal };

/**
 * Watches a resource until the server ends it.
 * @throws CoreError ERR_API_UNREACHABLE, ERR_API_PROTOCOL, ERR_ABORTED
 */
export async function watchResource(
  client: KubeClient,
  request: WatchRequest,
  taker: WatchTaker,
  signal: AbortSignal,
): Promise<WatchOutcome> {
  const { resource, version, timeoutSeconds } = request;
  const answer = await client.get(
    resource.path,
    {
      labelSelector: resource.labelSelector,
      fieldSelector: resource.fieldSelector,
      watch: "true",
      allowWatchBookmarks: "true",
      resourceVersion: version,
      timeoutSeconds: String(timeoutSeconds),
    },
    signal,
  );
  if (answer.kind === "refused") return { kind: "refused", refusal: answer };
  taker.opened();
  return readEvents(answer.body, request, taker, signal);
}

async function readEvents(
  body: IncomingMessage,
  { idleTimeoutMs, maxLineBytes }: WatchRequest,
  taker: WatchTaker,
  signal: AbortSignal,
): Promise<WatchOutcome> {
  const lines = new LineSplitter(maxLineBytes);
  try {
    for await (const chunk of bodyChunks(body, idleTimeoutMs, signal)) {
      for (const line of lines.feed(chunk)) {
        const event = parseWatchEvent(line);
        if (event.type === "error") return { kind: "refused", refusal: event.refusal };
        if (event.type !== "unknown") taker.event(event);
      }
      taker.pause();
    }
    return { kind: "ended" };
  } catch (error) {
    // A stream that breaks off is no news: it goes on where it was.
    if (error instanceof CoreError && error.code === "ERR_API_UNREACHABLE")
      return { kind: "ended" };
    throw error;
  } finally {
    taker.pause();
  }
}
