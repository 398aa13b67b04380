import type { ContractSubject } from "../../src/backends/backend.contract.ts";
import { DEVIATIONS } from "../../src/backends/deviations.ts";
import { REDIRECT_CAPABILITIES, USERSPACE } from "../../src/backends/userspace/definition.ts";
import type { Scenario } from "../../src/core/route/scenarios/scenario.ts";
import { TOPOLOGY } from "../../src/core/route/scenarios/topology.ts";
import { SCENARIOS } from "../../src/core/route/scenarios.ts";
import { representatives } from "../support/representatives.ts";
import { openNamespaces } from "./namespace-driver.ts";

const { externalIP, loadBalancerIP } = TOPOLOGY;

const COMMON = {
  backend: USERSPACE.name,
  catches: ["TCP", "SCTP"],
  // A proxy takes its time.
  settleMs: 400,
} as const;
const OPTIONS = { loops: 1, drainTimeout: "1s" };

/** On addresses of the machine a closed UDP port looks the same whoever closed it. */
const PLAYABLE: readonly Scenario[] = SCENARIOS.filter(
  ({ packet, expected }) => packet.protocol !== "UDP" || expected.kind !== "not-ours",
);

type Subject = ContractSubject & { readonly scenarios: readonly Scenario[] };

/** The proxy on addresses of its own machine. */
export const PLAIN: Subject = {
  backend: USERSPACE.name,
  capabilities: USERSPACE.capabilities,
  concurrency: 4,
  scenarios: PLAYABLE,
  open: () =>
    openNamespaces({
      ...COMMON,
      options: OPTIONS,
      // It serves only what its machine has.
      assigned: [externalIP.v4, externalIP.v6, loadBalancerIP.v4, loadBalancerIP.v6],
    }),
};

/** The proxy with the kernel's rules that lead packets to it. */
export const REDIRECTED: Subject = {
  backend: USERSPACE.name,
  capabilities: REDIRECT_CAPABILITIES,
  deviations: DEVIATIONS.filter(({ unless }) => unless !== "--redirect"),
  concurrency: 4,
  scenarios: PLAYABLE,
  open: () => openNamespaces({ ...COMMON, options: { ...OPTIONS, redirect: true } }),
};

/** So few of its scenarios that each value of each axis, and each deviation, is in one of them. */
export function inShort(subject: Subject): Subject {
  return { ...subject, scenarios: representatives(subject.scenarios, subject.backend) };
}
