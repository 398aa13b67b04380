import { expect, test } from "vitest";
import { sampleEndpoint } from "../../../test/support/samples.ts";
import type { Family } from "../../core/model/address.ts";
import type { TrafficPolicy } from "../../core/model/service.ts";
import { scopesOf } from "./scopes.ts";

const V4: readonly Family[] = ["v4"];

function scopes(
  clusterFor: readonly Family[],
  localFor: readonly Family[],
  internal: TrafficPolicy,
  external: TrafficPolicy,
) {
  const endpoint = sampleEndpoint({ group: "web", addresses: ["10.0.0.1"] });
  const [service, path] = ["default/web", "default/web/a"];
  const ports = [{ name: "", target: 80, clusterFor, localFor }];
  const value = { path, service, group: service, endpoint, local: false, ports };
  return scopesOf(value, { internalTrafficPolicy: internal, externalTrafficPolicy: external });
}

test("each scope follows the list that its policy names", () => {
  expect(scopes(V4, [], "Cluster", "Cluster")).toEqual({ internal: true, external: true });
  expect(scopes(V4, [], "Cluster", "Local")).toEqual({ internal: true, external: false });
  expect(scopes(V4, [], "Local", "Cluster")).toEqual({ internal: false, external: true });
  expect(scopes(V4, [], "Local", "Local")).toEqual({ internal: false, external: false });
  expect(scopes([], V4, "Local", "Cluster")).toEqual({ internal: true, external: false });
  expect(scopes(V4, V4, "Local", "Local")).toEqual({ internal: true, external: true });
});
