import type { Endpoint } from "../../core/model/endpoint.ts";
import type { Node } from "../../core/model/node.ts";
import type { Service } from "../../core/model/service.ts";
import { ProtoWriter } from "../protobuf/proto-writer.ts";
import { writeGlobalEndpoint } from "./endpoint-writer.ts";
import { ENDPOINT_INFO_FIELD, NODE_FIELD } from "./global-fields.ts";
import { writeService } from "./service-writer.ts";
import { EXTENSION_FIELD, EXTENSION_VERSION } from "./set-id.ts";

/** XXH64 with seed 0. */
export type Hash64 = (bytes: Uint8Array) => bigint;

/**
 * Writes the messages of the global API. Each begins with a hash over everything else in it: a KPNG
 * store takes an object with the hash that it has already for unchanged.
 */
export class GlobalWriter {
  readonly #hash: Hash64;
  readonly #scratch = new ProtoWriter();

  constructor(hash: Hash64) {
    this.#hash = hash;
  }

  /** `globalv1.ServiceInfo` */
  writeServiceInfo(writer: ProtoWriter, service: Service): void {
    this.#writeHashed(writer, (inner) => {
      inner.begin(2);
      writeService(inner, service, "as-given", []);
      inner.end();
    });
  }

  /** `globalv1.EndpointInfo` */
  writeEndpointInfo(writer: ProtoWriter, endpoint: Endpoint): void {
    this.#writeHashed(writer, (inner) => writeEndpointInfo(inner, endpoint));
  }

  /** `globalv1.NodeInfo`, whose hash is that of the node within. */
  writeNodeInfo(writer: ProtoWriter, node: Node): void {
    this.#scratch.clear();
    writeNode(this.#scratch, node);
    const bytes = this.#scratch.view();
    writer.uint64(1, this.#hash(bytes));
    writer.begin(2);
    writer.raw(bytes);
    writer.end();
  }

  #writeHashed(writer: ProtoWriter, body: (inner: ProtoWriter) => void): void {
    this.#scratch.clear();
    body(this.#scratch);
    const bytes = this.#scratch.view();
    writer.uint64(1, this.#hash(bytes));
    writer.raw(bytes);
  }
}

function writeEndpointInfo(writer: ProtoWriter, endpoint: Endpoint): void {
  writer.string(ENDPOINT_INFO_FIELD.namespace, endpoint.namespace);
  writer.string(ENDPOINT_INFO_FIELD.sourceName, endpoint.source);
  writer.string(ENDPOINT_INFO_FIELD.serviceName, endpoint.group);
  writer.begin(ENDPOINT_INFO_FIELD.endpoint);
  writeGlobalEndpoint(writer, endpoint);
  writer.end();
  writer.begin(ENDPOINT_INFO_FIELD.conditions);
  writer.bool(1, endpoint.ready);
  writer.end();
  writer.string(ENDPOINT_INFO_FIELD.podName, endpoint.podName);
  writer.begin(ENDPOINT_INFO_FIELD.topology);
  writer.string(1, endpoint.node);
  writer.string(2, endpoint.zone);
  writer.end();
  if (endpoint.hints.zones.length > 0) {
    writer.begin(ENDPOINT_INFO_FIELD.hints);
    writer.strings(1, endpoint.hints.zones);
    writer.end();
  }
}

function writeNode(writer: ProtoWriter, node: Node): void {
  writer.string(NODE_FIELD.name, node.name);
  writer.map(NODE_FIELD.labels, node.labels);
  writer.map(NODE_FIELD.annotations, node.annotations);
  writer.begin(NODE_FIELD.topology);
  writer.string(1, node.name);
  writer.string(2, node.zone);
  writer.end();
  writer.uint32(EXTENSION_FIELD, EXTENSION_VERSION);
  writer.strings(NODE_FIELD.addresses, node.addresses);
  writer.strings(NODE_FIELD.subnets, node.subnets);
  if (node.tunnel !== undefined) {
    writer.begin(NODE_FIELD.tunnel);
    writer.string(1, node.tunnel.address);
    writer.string(2, node.tunnel.publicKey);
    writer.end();
  }
  writer.bool(NODE_FIELD.dead, !node.alive);
  writer.string(NODE_FIELD.leaving, node.leaving);
}
