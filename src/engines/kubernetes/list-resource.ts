import type { IncomingMessage } from "node:http";
import { CoreError } from "../../core/errors.ts";
import { isRaw } from "../../core/model/raw-reader.ts";
import { bodyChunks } from "./body-chunks.ts";
import type { KubeClient } from "./kube-client.ts";
import { ListDecoder } from "./list-decoder.ts";
import type { Refusal } from "./read-refusal.ts";
import type { ResourceQuery } from "./resource-query.ts";
import { versionOf } from "./watch-event.ts";

export interface ListRequest {
  readonly resource: ResourceQuery;
  /** At least as new as this; empty: the newest, `0`: any that the server has at hand. */
  readonly notOlderThan: string;
  /** How many entries a page has; 0: all in one. */
  readonly pageSize: number;
  readonly maxItemBytes: number;
  /** So long nothing may arrive in the middle of it. */
  readonly idleTimeoutMs: number;
}

export type ListOutcome =
  | { readonly kind: "listed"; readonly version: string }
  | { readonly kind: "refused"; readonly refusal: Refusal };

/**
 * Lists a resource, page by page, and hands each entry over as it arrives.
 * @throws CoreError ERR_API_UNREACHABLE, ERR_API_PROTOCOL, ERR_ABORTED
 */
export async function listResource(
  client: KubeClient,
  request: ListRequest,
  onItem: (item: unknown) => void,
  signal: AbortSignal,
): Promise<ListOutcome> {
  const { resource, notOlderThan, pageSize } = request;
  let token = "";
  let version = "";
  do {
    const answer = await client.get(
      resource.path,
      {
        labelSelector: resource.labelSelector,
        fieldSelector: resource.fieldSelector,
        ...(pageSize > 0 && { limit: String(pageSize) }),
        // A page that follows has the version of the first one in its token.
        ...(token === ""
          ? notOlderThan !== "" && {
              resourceVersion: notOlderThan,
              resourceVersionMatch: "NotOlderThan",
            }
          : { continue: token }),
      },
      signal,
    );
    if (answer.kind === "refused") return { kind: "refused", refusal: answer };
    const page = await readPage(answer.body, request, onItem, signal);
    version = page.version;
    token = page.token;
  } while (token !== "");
  return { kind: "listed", version };
}

async function readPage(
  body: IncomingMessage,
  { idleTimeoutMs, maxItemBytes, resource }: ListRequest,
  onItem: (item: unknown) => void,
  signal: AbortSignal,
): Promise<{ readonly version: string; readonly token: string }> {
  const decoder = new ListDecoder(onItem, maxItemBytes);
  for await (const chunk of bodyChunks(body, idleTimeoutMs, signal)) decoder.feed(chunk);
  const around = decoder.finish();
  const version = versionOf(around);
  if (version === "") {
    throw new CoreError("ERR_API_PROTOCOL", `list ${resource.path}: it has no resourceVersion`);
  }
  const metadata = isRaw(around) ? around["metadata"] : undefined;
  const token = isRaw(metadata) ? metadata["continue"] : undefined;
  return { version, token: typeof token === "string" ? token : "" };
}
