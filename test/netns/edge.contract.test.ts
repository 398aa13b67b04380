import { describe } from "vitest";
import { runBackendContract } from "../../src/backends/backend.contract.ts";
import { EDGE } from "../../src/backends/edge/definition.ts";
import type { Scenario } from "../../src/core/route/scenarios/scenario.ts";
import { SCENARIOS } from "../../src/core/route/scenarios.ts";
import { requires } from "../support/requires.ts";
import { EdgeDriver } from "./edge-driver.ts";

/** How far other nodes are is measured, and here all are as far: what a scenario says of it can not be had. */
const MEASURED = /\/closest-(in-this-zone|by-|at-)/;

function isPlayable({ name }: Scenario): boolean {
  return !MEASURED.test(name);
}

describe("in network namespaces", requires("linux", "root", "ip", "nft"), () => {
  runBackendContract({
    backend: EDGE.name,
    capabilities: EDGE.capabilities,
    concurrency: 2,
    scenarios: SCENARIOS.filter(isPlayable),
    open: () => EdgeDriver.open(),
  });
});
