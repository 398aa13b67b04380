import { describe } from "vitest";
import { runBackendContract } from "../../src/backends/backend.contract.ts";
import { IPTABLES } from "../../src/backends/iptables/definition.ts";
import { IPTABLES_MODES } from "../../src/platform/linux/iptables/iptables-tool.ts";
import { requires } from "../support/requires.ts";
import { openNamespaces } from "./namespace-driver.ts";

for (const mode of IPTABLES_MODES) {
  describe(`iptables-${mode}`, requires("linux", "root", "ip", "iptables"), () => {
    runBackendContract({
      backend: IPTABLES.name,
      capabilities: IPTABLES.capabilities,
      concurrency: 4,
      open: () =>
        openNamespaces({
          backend: IPTABLES.name,
          options: { iptablesMode: mode, iptablesMinSyncPeriod: "0s" },
        }),
    });
  });
}
