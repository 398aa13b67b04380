import { expect, test } from "vitest";
import { endpointSchema } from "../../../core/model/endpoint.ts";
import { serviceSchema } from "../../../core/model/service.ts";
import type { ServiceEndpoints } from "../../../core/sinks/fullstate.ts";
import { portOutcomes } from "../../port-targets.ts";
import { endpointInfos } from "./endpoint-infos.ts";

const service = serviceSchema.parse({
  kind: "Service",
  name: "dns",
  clusterIPs: ["10.96.0.10"],
  ports: [{ name: "main", protocol: "UDP", port: 53, targetPort: 5353 }],
});
const endpoint = endpointSchema.parse({
  kind: "Endpoint",
  name: "b",
  group: "dns",
  addresses: ["10.244.1.2"],
});
const ENTRY: ServiceEndpoints = {
  service: {
    key: "default/dns",
    service,
    usable: [["v4"]],
    ending: [
      { portIndex: 0, address: "10.244.1.1", target: 5353 },
      { portIndex: 0, address: "fd00::1", target: 5353 },
      { portIndex: 1, address: "10.244.1.9", target: 5353 },
    ],
  },
  endpoints: [
    {
      path: "default/dns/b",
      service: "default/dns",
      group: "default/dns",
      endpoint,
      local: false,
      ports: [{ name: "main", target: 5353, clusterFor: ["v4"], localFor: [] }],
    },
  ],
};

test("one that ends and still serves keeps its flows at weight 0", () => {
  const infos = endpointInfos(ENTRY, 0, "v4", portOutcomes(ENTRY, 0, "v4"));
  const weights = Object.fromEntries(
    [...infos].map(([id, { clusterWeight }]) => [id, clusterWeight]),
  );
  expect(weights).toEqual({ "10.244.1.1:5353": 0, "10.244.1.2:5353": 1 });
});
