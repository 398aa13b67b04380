import { SCENARIOS } from "../../core/route/scenarios.ts";
import { runBackendContract } from "../backend.contract.ts";
import { unmetNeeds } from "../capabilities.ts";
import { USERSPACE } from "./definition.ts";
import { isPlayable, LoopbackDriver } from "./loopback-driver.fixture.ts";

runBackendContract({
  backend: USERSPACE.name,
  capabilities: USERSPACE.capabilities,
  open: () => LoopbackDriver.open(),
  scenarios: SCENARIOS.filter(
    (scenario) =>
      unmetNeeds(USERSPACE.capabilities, scenario.needs).length > 0 || isPlayable(scenario),
  ),
});
