import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import * as z from "zod";

const objectSchema = z.looseObject({
  kind: z.string(),
  apiVersion: z.string(),
  metadata: z.looseObject({ name: z.string() }),
});
const listSchema = z.object({ items: z.array(objectSchema) });

type KubeObject = z.infer<typeof objectSchema>;

/** What a kube-proxy asks for, by path. */
const KINDS: ReadonlyMap<string, { readonly kind: string; readonly apiVersion: string }> = new Map([
  ["/api/v1/services", { kind: "Service", apiVersion: "v1" }],
  ["/api/v1/nodes", { kind: "Node", apiVersion: "v1" }],
  [
    "/apis/discovery.k8s.io/v1/endpointslices",
    { kind: "EndpointSlice", apiVersion: "discovery.k8s.io/v1" },
  ],
  [
    "/apis/networking.k8s.io/v1/servicecidrs",
    { kind: "ServiceCIDR", apiVersion: "networking.k8s.io/v1" },
  ],
]);

const REVISION = "1";
const END_OF_INITIAL_EVENTS = { "k8s.io/initial-events-end": "true" };

/**
 * As much of a Kubernetes API server as a kube-proxy needs to read a state that never changes: lists,
 * and watches that tell the whole list where they are asked to, and then nothing more.
 */
export class KubeApi {
  readonly #objects: readonly KubeObject[];
  readonly #server: Server;

  /** @param file a `List` of manifests */
  constructor(file: string) {
    const { items } = listSchema.parse(JSON.parse(readFileSync(file, "utf8")));
    this.#objects = items.map((object, index) => ({
      ...object,
      metadata: { uid: `uid-${index}`, ...object.metadata, resourceVersion: REVISION },
    }));
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  count(kind: string): number {
    return this.#objects.filter((object) => object.kind === kind).length;
  }

  /** On loopback. @returns its address as a URL */
  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("no port to listen on");
    return `http://127.0.0.1:${address.port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? "/", "http://kube");
    const wanted = KINDS.get(url.pathname);
    response.setHeader("content-type", "application/json");
    if (wanted !== undefined) {
      const items = this.#select(wanted.kind, url.searchParams.get("fieldSelector") ?? "");
      if (url.searchParams.get("watch") === null) sendList(response, wanted, items);
      else
        sendWatch(response, wanted, url.searchParams.has("sendInitialEvents") ? items : undefined);
      return;
    }
    const node = this.#select("Node", `metadata.name=${url.pathname.split("/").at(-1)}`)[0];
    if (url.pathname.startsWith("/api/v1/nodes/") && node !== undefined) {
      response.end(JSON.stringify(node));
      return;
    }
    // Such as events that it reports.
    response.statusCode = request.method === "POST" ? 201 : 404;
    response.end(JSON.stringify({ kind: "Status", apiVersion: "v1", code: response.statusCode }));
  }

  #select(kind: string, fields: string): readonly KubeObject[] {
    const [, name] = /^metadata\.name=(.+)$/.exec(fields) ?? [];
    return this.#objects.filter(
      (object) => object.kind === kind && (name === undefined || object.metadata.name === name),
    );
  }
}

type Kind = { readonly kind: string; readonly apiVersion: string };

function sendList(
  response: ServerResponse,
  { kind, apiVersion }: Kind,
  items: readonly KubeObject[],
): void {
  const metadata = { resourceVersion: REVISION };
  response.end(JSON.stringify({ kind: `${kind}List`, apiVersion, metadata, items }));
}

/** Stays open; nothing ever changes. @param items to be told first; undefined: none are asked for */
function sendWatch(
  response: ServerResponse,
  kind: Kind,
  items: readonly KubeObject[] | undefined,
): void {
  response.flushHeaders();
  if (items === undefined) return;
  for (const object of items) response.write(`${JSON.stringify({ type: "ADDED", object })}\n`);
  const metadata = { resourceVersion: REVISION, annotations: END_OF_INITIAL_EVENTS };
  response.write(`${JSON.stringify({ type: "BOOKMARK", object: { ...kind, metadata } })}\n`);
}
