import { expect, test } from "vitest";
import { endpointSchema } from "../../core/model/endpoint.ts";
import { serviceSchema } from "../../core/model/service.ts";
import type { NodeEndpoint, NodeService } from "../../core/view/ops.ts";
import { EndpointChangeTracker, ServiceChangeTracker } from "./change-tracker.ts";

function service(name: string, ip = "10.0.0.1"): NodeService {
  const parsed = serviceSchema.parse({ kind: "Service", name, clusterIPs: [ip] });
  return { key: `default/${name}`, service: parsed, usable: [] };
}

function endpoint(name: string, ip = "10.1.0.1"): NodeEndpoint {
  const parsed = endpointSchema.parse({ kind: "Endpoint", name, group: "web", addresses: [ip] });
  return {
    path: `default/web/${name}`,
    service: "default/web",
    group: "default/web",
    endpoint: parsed,
    local: false,
    ports: [],
  };
}

test("changes of services are merged until they are asked for", () => {
  const tracker = new ServiceChangeTracker();
  tracker.set(service("a"));
  tracker.set(service("a", "10.0.0.2"));
  tracker.set(service("b"));
  expect(tracker.takeChanged()).toEqual(["default/a", "default/b"]);
  expect(tracker.takeChanged()).toEqual([]);
  tracker.delete("default/b");
  expect(tracker.takeChanged()).toEqual(["default/b"]);
  expect([...tracker.keys()]).toEqual(["default/a"]);
});

test("what was taken back is no change", () => {
  const tracker = new ServiceChangeTracker();
  tracker.set(service("a"));
  tracker.takeChanged();
  tracker.set(service("a", "10.0.0.2"));
  tracker.set(service("a"));
  tracker.set(service("b"));
  tracker.delete("default/b");
  expect(tracker.takeChanged()).toEqual([]);
});

test("after a reset only what differs is a change", () => {
  const tracker = new ServiceChangeTracker();
  tracker.set(service("a"));
  tracker.set(service("b"));
  tracker.takeChanged();
  tracker.clear();
  tracker.set(service("a"));
  expect(tracker.takeChanged()).toEqual(["default/b"]);
});

test("endpoints are counted, and told by their service in the order of their paths", () => {
  const tracker = new EndpointChangeTracker();
  tracker.set(endpoint("b"));
  tracker.set(endpoint("a"));
  tracker.set(endpoint("a", "10.1.0.2"));
  expect(tracker.count).toBe(2);
  expect(tracker.of("default/web").map(({ path }) => path)).toEqual([
    "default/web/a",
    "default/web/b",
  ]);
  expect(tracker.takeChanged()).toEqual(["default/web"]);
  tracker.delete("default/web/b", "default/web");
  expect(tracker.of("default/web").map(({ path }) => path)).toEqual(["default/web/a"]);
  tracker.set(endpoint("b"));
  expect(tracker.of("default/web")).toHaveLength(2);
  expect(tracker.takeChanged()).toEqual([]);
  tracker.clear();
  expect(tracker.count).toBe(0);
  expect(tracker.takeChanged()).toEqual(["default/web"]);
});
