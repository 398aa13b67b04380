import { endpointSchema } from "../../src/core/model/endpoint.ts";
import type { ModelObject } from "../../src/core/model/object.ts";
import { serviceSchema } from "../../src/core/model/service.ts";

/** One more than a cluster has that is not large. */
const ENDPOINTS = 1001;
const name = "large";

/** A backend that begins with these takes its cluster for a large one from then on. */
export const LARGE_CLUSTER: readonly ModelObject[] = [
  serviceSchema.parse({
    kind: "Service",
    name,
    clusterIPs: ["10.96.200.1"],
    ports: [{ port: 80, targetPort: 8080 }],
  }),
  ...Array.from({ length: ENDPOINTS }, (_, index) =>
    endpointSchema.parse({
      kind: "Endpoint",
      name: `${name}-${index}`,
      group: name,
      addresses: [`10.244.${200 + (index >> 8)}.${index & 255}`],
    }),
  ),
];
