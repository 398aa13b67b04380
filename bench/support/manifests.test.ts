import { expect, test } from "vitest";
import type { ModelObject } from "../../src/core/model/object.ts";
import { parseState } from "../../src/sources/file/parse-state.ts";
import { asJson, asYaml, createManifests } from "./manifests.ts";

const SIZE = { services: 400, endpointsPerService: 10, nodes: 20, zones: 10 };

function read(text: string): readonly ModelObject[] {
  return parseState([{ name: "state", bytes: Buffer.from(text) }]).objects;
}

test("the cluster is what the targets speak of", () => {
  const objects = read(asJson(createManifests(SIZE)));
  const services = objects.filter((object) => object.kind === "Service");
  const endpoints = objects.filter((object) => object.kind === "Endpoint");
  const share = (count: number) => count / SIZE.services;
  expect(services).toHaveLength(SIZE.services);
  expect(objects.filter((object) => object.kind === "Node")).toHaveLength(SIZE.nodes);
  expect(share(services.filter((one) => one.affinitySeconds > 0).length)).toBe(0.2);
  expect(share(services.filter((one) => one.ports.some((port) => port.nodePort > 0)).length)).toBe(
    0.1,
  );
  expect(share(services.filter((one) => one.sourceRanges.length > 0).length)).toBe(0.05);
  expect(share(services.filter((one) => one.clusterIPs.length > 1).length)).toBe(0.1);
  expect(services.some((one) => one.internalTrafficPolicy === "Local")).toBe(true);
  expect(services.some((one) => one.externalTrafficPolicy === "Local")).toBe(true);
  expect(endpoints.some((one) => one.hints.zones.length > 0)).toBe(true);
  expect(endpoints.some((one) => !one.ready && one.serving && one.terminating)).toBe(true);
  // A pod of a dual-stack service is in a slice of each family.
  const families = 1.1;
  expect(endpoints).toHaveLength(SIZE.services * SIZE.endpointsPerService * families);
});

test("it is the same each time, in JSON and in YAML", () => {
  const manifests = createManifests({ ...SIZE, services: 40 });
  const json = asJson(manifests);
  expect(asJson(createManifests({ ...SIZE, services: 40 }))).toBe(json);
  expect(read(asYaml(manifests))).toEqual(read(json));
});
