import fc from "fast-check";
import { expect, test } from "vitest";
import type { Endpoint } from "../../core/model/endpoint.ts";
import { ProtoReader } from "../protobuf/proto-reader.ts";
import { ProtoWriter } from "../protobuf/proto-writer.ts";
import { emptyEndpointMessage, readEndpoint } from "./endpoint-reader.ts";
import { writeNodeEndpoint } from "./endpoint-writer.ts";
import { readEndpointInfo, readNodeInfo, readServiceInfo } from "./global-reader.ts";
import { GlobalWriter } from "./global-writer.ts";
import { endpoint, node, nodeEndpoint, nodeService, service } from "./model.fixture.ts";
import { NodeValues } from "./node-values.ts";
import { SCOPES } from "./scopes.ts";
import { readService } from "./service-reader.ts";
import { writeService } from "./service-writer.ts";

const encode = (write: (writer: ProtoWriter) => void): ProtoReader => {
  const writer = new ProtoWriter(1);
  write(writer);
  return new ProtoReader().reset(Buffer.from(writer.view()));
};

const global = new GlobalWriter(() => 0xffff_ffff_ffff_ffffn);

test("a node's service arrives as it was sent", () => {
  fc.assert(
    fc.property(nodeService, (value) => {
      const bytes = encode((writer) =>
        writeService(writer, value.service, "resolved", value.usable, value.ending),
      );
      expect(new NodeValues().service(value.key, readService(bytes))).toStrictEqual(value);
    }),
  );
});

test("a node's endpoint arrives as it was sent, whatever came before it", () => {
  const values = new NodeValues();
  const message = emptyEndpointMessage();
  fc.assert(
    fc.property(nodeEndpoint, fc.constantFrom(undefined, ...SCOPES), (value, scopes) => {
      const bytes = encode((writer) => writeNodeEndpoint(writer, value, scopes));
      expect(values.endpoint(value.path, readEndpoint(bytes, message))).toStrictEqual(value);
    }),
  );
});

test("a service, an endpoint and a node of the global API arrive as they were sent", () => {
  fc.assert(
    fc.property(service, (value) => {
      const bytes = encode((writer) => global.writeServiceInfo(writer, value));
      expect(readServiceInfo(bytes)).toStrictEqual(value);
    }),
  );
  fc.assert(
    fc.property(endpoint.map(forUdp), (value) => {
      const bytes = encode((writer) => global.writeEndpointInfo(writer, value));
      expect(readEndpointInfo(bytes, "row")).toStrictEqual(value);
    }),
  );
  fc.assert(
    fc.property(node, (value) => {
      const bytes = encode((writer) => global.writeNodeInfo(writer, value));
      expect(readNodeInfo(bytes)).toStrictEqual(value);
    }),
  );
});

test("a service that is sent under the path of another one is refused", () => {
  const message = readService(
    encode((writer) => {
      writer.string(1, "default");
      writer.string(2, "web");
    }),
  );
  expect(() => new NodeValues().service("default/other", message)).toThrow(
    /Ref.Path: "default\/other" is not valid; expected the key of the service, default\/web/,
  );
});

test.each([
  ["a service without a name", 1, "default", /Service.Name: "" is not valid/],
  ["a name with a slash", 1, "a/b", /Service.Namespace: "a\/b" is not valid/],
])("%s is refused with the field and the value", (_, field, text, message) => {
  expect(() => readService(encode((writer) => writer.string(field, text)))).toThrow(message);
});

test("a port of 70000 and an address that is none are refused by name", () => {
  const port = encode((writer) => {
    writer.begin(6);
    writer.uint32(2, 1);
    writer.uint32(3, 70_000);
    writer.end();
  });
  expect(() => readService(port)).toThrow(/PortMapping.Port: 70000 is not valid; expected a whole/);
  const address = encode((writer) => {
    writer.begin(2);
    writer.string(1, "10.0.0.256");
    writer.end();
  });
  expect(() => readEndpoint(address, emptyEndpointMessage())).toThrow(
    /Endpoint.IPs: "10.0.0.256" is not valid; expected an IPv4 or IPv6 address/,
  );
});

/** Whose first port is for UDP alone. */
function forUdp(value: Endpoint): Endpoint {
  const [first, ...others] = value.ports;
  return first === undefined
    ? value
    : { ...value, ports: [{ ...first, protocol: "UDP" }, ...others] };
}
