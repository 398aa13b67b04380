import type { Log } from "../core/log.ts";

export interface KernelCounts {
  readonly services: number;
  readonly endpoints: number;
}

/** Says once that a first state is served: from here on, what clients call is answered. */
export function tellInKernel(
  backend: string,
  { services, endpoints }: KernelCounts,
  log: Log,
): void {
  log.info(
    { backend, services, endpoints },
    `in the kernel now: ${services} services with ${endpoints} endpoints`,
  );
}
