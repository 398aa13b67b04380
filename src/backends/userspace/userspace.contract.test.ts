import { describe } from "vitest";
import { requires } from "../../../test/support/requires.ts";
import { SCENARIOS } from "../../core/route/scenarios.ts";
import { runBackendContract } from "../backend.contract.ts";
import { unmetNeeds } from "../capabilities.ts";
import { USERSPACE } from "./definition.ts";
import { isPlayable, LoopbackDriver, type LoopbackProvider } from "./loopback-driver.fixture.ts";

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
