import { endpointSchema } from "../../src/core/model/endpoint.ts";
import { serviceSchema } from "../../src/core/model/service.ts";
import type { ServiceEndpoints } from "../../src/core/sinks/fullstate.ts";
import type { MadeFlow } from "./create-flows.ts";

const ENDPOINTS = 3;
const PORT = 53;

const serviceIp = (number: number): string => `10.96.${number >> 8}.${number & 0xff}`;

/** Endpoint `index` of a service, in one of its generations. */
const endpointIp = (number: number, index: number, generation: number): string =>
  `10.${200 + generation * ENDPOINTS + index}.${number >> 8}.${number & 0xff}`;

export const keyOf = (number: number): string => `default/s${number}`;

/** A UDP service with its endpoints; those of another generation are all others. */
export function serviceOf(number: number, generation: number): ServiceEndpoints {
  const key = keyOf(number);
  const service = serviceSchema.parse({
    kind: "Service",
    name: `s${number}`,
    clusterIPs: [serviceIp(number)],
    ports: [{ name: "dns", protocol: "UDP", port: PORT, targetPort: PORT }],
  });
  return {
    service: { key, service, usable: [["v4"]] },
    endpoints: Array.from({ length: ENDPOINTS }, (_, index) => ({
      path: `${key}/e${index}`,
      service: key,
      group: key,
      local: false,
      endpoint: endpointSchema.parse({
        kind: "Endpoint",
        name: `e${index}`,
        group: `s${number}`,
        addresses: [endpointIp(number, index, generation)],
      }),
      ports: [{ name: "dns", target: PORT, clusterFor: ["v4"], localFor: [] }],
    })),
  };
}

/** Flow `index` of those that lead to the services, spread over them and their endpoints. */
export function flowOf(index: number, services: number, protocol: MadeFlow["protocol"]): MadeFlow {
  const number = index % services;
  return {
    src: `10.1.${(index >> 8) & 0xff}.${index & 0xff}`,
    srcPort: 1024 + (index >> 16) + (index % 50_000),
    dst: serviceIp(number),
    dstPort: PORT,
    endpoint: endpointIp(number, index % ENDPOINTS, 0),
    endpointPort: PORT,
    protocol,
  };
}
