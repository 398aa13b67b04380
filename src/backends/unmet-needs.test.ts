import { expect, test } from "vitest";
import type { ScenarioNeeds } from "../core/route/scenarios/scenario.ts";
import type { Capabilities } from "./capabilities.ts";
import { unmetNeeds } from "./unmet-needs.ts";

const LITTLE: Capabilities = {
  addressTypes: ["cluster-ip"],
  protocols: ["TCP"],
  families: ["v4"],
  affinity: "sticky",
  sourceRanges: false,
  internalLocal: false,
  externalLocal: false,
  weights: false,
  methods: ["random"],
  requestHints: false,
  keepsSource: false,
};

const NEEDS: ScenarioNeeds = { addressType: "cluster-ip", protocol: "TCP", family: "v4" };

test("what is not asked is not missed", () => {
  expect(unmetNeeds(LITTLE, NEEDS)).toEqual([]);
  expect(unmetNeeds(LITTLE, { ...NEEDS, affinity: "sticky", weights: false })).toEqual([]);
});

test("each need that is not met is named", () => {
  const needs: ScenarioNeeds = {
    addressType: "node-port",
    protocol: "SCTP",
    family: "v6",
    affinity: "with-timeout",
    sourceRanges: true,
    internalLocal: true,
    externalLocal: true,
    weights: true,
    keepsSource: true,
  };
  expect(unmetNeeds(LITTLE, needs)).toEqual([
    "addressTypes: node-port",
    "protocols: SCTP",
    "families: v6",
    "affinity: with-timeout",
    "sourceRanges: true",
    "internalLocal: true",
    "externalLocal: true",
    "weights: true",
    "keepsSource: true",
  ]);
});
