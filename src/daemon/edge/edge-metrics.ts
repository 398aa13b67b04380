import { Counter, Gauge, Registry } from "prom-client";
import type { EnvironmentManager } from "../../edge/environment/environment-manager.ts";
import type { Overlay } from "../../edge/overlay/overlay.ts";
import { renderPartMetrics } from "../part-metrics.ts";
import type { ServedNames } from "./names/serve-names.ts";

const PREFIX = "portolan_";

export interface EdgeMetrics {
  readonly contentType: string;
  text(): Promise<string>;
  countAnswer(path: string, status: number): void;
}

/** @param paths those that are counted each; what else is asked for counts together */
export function createEdgeMetrics(
  manager: Pick<EnvironmentManager, "workloads" | "room">,
  parts: { readonly names: Pick<ServedNames, "counts">; readonly tunnel: Pick<Overlay, "metrics"> },
  paths: ReadonlySet<string>,
): EdgeMetrics {
  const registry = new Registry();
  const registers = [registry];
  const answers = new Counter({
    name: "portolan_edge_requests_total",
    help: "Requests of node engines, by path and status",
    labelNames: ["path", "status"],
    registers,
  });
  const workloads = new Gauge({
    name: "portolan_edge_workloads",
    help: "Workloads of this node, by whether they are connected",
    labelNames: ["health"],
    registers,
    collect: () => {
      const entries = manager.workloads();
      for (const health of ["up", "lost"] as const) {
        workloads.set({ health }, entries.filter((entry) => entry.health === health).length);
      }
    },
  });
  const addresses = new Gauge({
    name: "portolan_edge_addresses",
    help: "Addresses of this node's subnetwork, used and in all",
    labelNames: ["what"],
    registers,
    collect: () => {
      const { used, capacity } = manager.room;
      addresses.set({ what: "used" }, used);
      addresses.set({ what: "all" }, capacity);
    },
  });
  const questions = new Counter({
    name: "portolan_edge_name_questions_total",
    help: "Questions of workloads for names: all and failed ones of DNS, and those answered by mDNS",
    labelNames: ["what"],
    registers,
    collect: () => {
      const { questions: all, failures, mdnsAnswers } = parts.names.counts();
      // It holds what was counted elsewhere.
      questions.reset();
      questions.inc({ what: "dns" }, all);
      questions.inc({ what: "dns-failed" }, failures);
      questions.inc({ what: "mdns" }, mdnsAnswers);
    },
  });
  return {
    contentType: registry.contentType,
    text: async () => {
      const tunnel = await parts.tunnel.metrics();
      const label = { name: "server", value: "edge" } as const;
      return (
        (await registry.metrics()) + renderPartMetrics([{ label, read: () => tunnel }], PREFIX)
      );
    },
    countAnswer: (path, status) => {
      answers.inc({ path: paths.has(path) ? path : "other", status });
    },
  };
}
