import { describe } from "vitest";
import { runBackendContract } from "../../src/backends/backend.contract.ts";
import { DEVIATIONS } from "../../src/backends/deviations.ts";
import { IPTABLES } from "../../src/backends/iptables/definition.ts";
import { SCENARIOS } from "../../src/core/route/scenarios.ts";
import { IPTABLES_MODES } from "../../src/platform/linux/iptables/iptables-tool.ts";
import { requires } from "../support/requires.ts";
import { LARGE_CLUSTER } from "./large-cluster.ts";
import { openNamespaces } from "./namespace-driver.ts";

/** In a large cluster only the way to a service is another one: some of each kind are enough. */
const EVERY = 6;
const SOME = SCENARIOS.filter((_, index) => index % EVERY === 0);
const COVERED = DEVIATIONS.filter(({ scenarios }) => SOME.some(({ name }) => scenarios.test(name)));

for (const mode of IPTABLES_MODES) {
  const subject = {
    backend: IPTABLES.name,
    options: { iptablesMode: mode, iptablesMinSyncPeriod: "0s" },
  };
  const { name: backend, capabilities } = IPTABLES;

  describe(`iptables-${mode}`, requires("linux", "root", "ip", "iptables"), () => {
    runBackendContract({
      backend,
      capabilities,
      concurrency: 4,
      open: () => openNamespaces(subject),
    });
  });

  describe(
    `iptables-${mode} in a large cluster`,
    requires("linux", "root", "ip", "iptables"),
    () => {
      runBackendContract({
        backend,
        capabilities,
        concurrency: 4,
        scenarios: SOME,
        deviations: COVERED,
        open: () => openNamespaces({ ...subject, first: LARGE_CLUSTER }),
      });
    },
  );
}
