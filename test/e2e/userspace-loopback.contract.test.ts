import { describe } from "vitest";
import { runBackendContract } from "../../src/backends/backend.contract.ts";
import { unmetNeeds } from "../../src/backends/unmet-needs.ts";
import { USERSPACE } from "../../src/backends/userspace/definition.ts";
import {
  isPlayable,
  LoopbackDriver,
  type LoopbackProvider,
} from "../../src/backends/userspace/loopback-driver.fixture.ts";
import { SCENARIOS } from "../../src/core/route/scenarios.ts";
import { requires } from "../support/requires.ts";

function runOnLoopback(provider: LoopbackProvider): void {
  runBackendContract({
    backend: USERSPACE.name,
    capabilities: USERSPACE.capabilities,
    open: () => LoopbackDriver.open(provider),
    scenarios: SCENARIOS.filter(
      (scenario) =>
        unmetNeeds(USERSPACE.capabilities, scenario.needs).length > 0 || isPlayable(scenario),
    ),
  });
}

describe("on loopback with Node's own sockets", () => runOnLoopback("node"));

describe("on loopback with system calls", requires("linux"), () => runOnLoopback("posix"));
