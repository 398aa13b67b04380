import { runBackendContract } from "../backend.contract.ts";
import { HCN } from "./definition.ts";
import { SwitchDriver } from "./switch-driver.fixture.ts";

runBackendContract({
  backend: HCN.name,
  capabilities: HCN.capabilities,
  open: async () => new SwitchDriver(),
});
