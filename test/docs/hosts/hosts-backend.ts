import { rename, rm, writeFile } from "node:fs/promises";
import type { Backend, BackendContext } from "../../../src/backends/backend.ts";
import type { ValuesOf } from "../../../src/core/options/option-spec.ts";
import { createFullStateSink, type ServiceEndpoints } from "../../../src/core/sinks/fullstate.ts";
import type { HostsOptions } from "./definition.ts";

/** The text of the file, pure: `10.0.0.1 web.default`, a line for each address. */
export function planHosts(services: Iterable<ServiceEndpoints>): string {
  const lines = [...services].flatMap(({ service: { service } }) =>
    service.clusterIPs.map((ip) => `${ip} ${service.name}.${service.namespace}\n`),
  );
  return lines.sort().join("");
}

export function createHostsBackend(
  { hostsFile }: ValuesOf<HostsOptions>,
  { nodeName }: BackendContext,
): Backend {
  let count = 0;
  return {
    sink: createFullStateSink({
      waitRequest: () => ({ nodeName, sets: [] }),
      apply: async ({ services }) => {
        // Whoever reads sees the old file or the new one, never half of one.
        await writeFile(`${hostsFile}.new`, planHosts(services.values()));
        await rename(`${hostsFile}.new`, hostsFile);
        count = services.size;
      },
    }),
    status: () => ({ summary: `${count} services in ${hostsFile}`, notHonoured: [] }),
    drain: async () => undefined,
    cleanup: () => rm(hostsFile, { force: true }),
    close: async () => undefined,
  };
}
