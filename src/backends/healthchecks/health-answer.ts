import type { HealthCheck } from "./plan-health-checks.ts";

export interface HealthAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const OK = 200;
const UNAVAILABLE = 503;

/** As kube-proxy answers, whatever the path. */
export function healthAnswer(check: HealthCheck, isProxyHealthy: boolean): HealthAnswer {
  const { namespace, name, localEndpoints } = check;
  const body = {
    service: { namespace, name },
    localEndpoints,
    serviceProxyHealthy: isProxyHealthy,
  };
  return {
    status: localEndpoints > 0 && isProxyHealthy ? OK : UNAVAILABLE,
    headers: {
      "content-type": "application/json",
      "x-content-type-options": "nosniff",
      "x-load-balancing-endpoint-weight": String(localEndpoints),
    },
    body: `${JSON.stringify(body, undefined, "\t")}\n`,
  };
}
