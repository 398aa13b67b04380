import { formatHostPort } from "../../core/model/address.ts";
import type { HealthCheck, HttpCheck } from "../../core/model/group.ts";
import type { ClientTalk } from "../../wire/websocks/client-step.ts";

/** How long `tcpDelay` keeps a connection to see whether the server ends it. */
export const TCP_DELAY_HOLD_MS = 50;

/** What to do for one check. `timeoutMs` is for all of it. */
export type CheckPlan =
  | { readonly kind: "none" }
  | { readonly kind: "tcp"; readonly timeoutMs: number }
  /** As `tcp`, and then a talk has to come to its end. */
  | { readonly kind: "talk"; readonly timeoutMs: number; readonly talk: ClientTalk }
  | { readonly kind: "tcpDelay"; readonly timeoutMs: number; readonly holdMs: number }
  | {
      readonly kind: "http";
      readonly timeoutMs: number;
      readonly request: Buffer;
      readonly status: readonly string[];
    }
  | {
      readonly kind: "dns";
      readonly timeoutMs: number;
      /** The root where the check names none: every server can say something about it. */
      readonly name: string;
      /** Whether the answer has to hold an address. */
      readonly needsAnswer: boolean;
    };

/** Where a check goes. */
export interface CheckTarget {
  /** An IP address, or the path of a unix socket. */
  readonly address: string;
  readonly port: number;
}

export function planCheck(check: HealthCheck, target: CheckTarget): CheckPlan {
  const { protocol: kind, timeoutMs } = check;
  switch (kind) {
    case "none":
      return { kind };
    case "tcp":
      return { kind, timeoutMs };
    case "tcpDelay":
      return { kind, timeoutMs, holdMs: TCP_DELAY_HOLD_MS };
    case "http": {
      const request = renderCheckRequest(check.http, target);
      return { kind, timeoutMs, request, status: check.http.status };
    }
    case "dns":
      return {
        kind,
        timeoutMs,
        name: check.dnsName === "" ? "." : check.dnsName,
        needsAnswer: check.dnsName !== "",
      };
  }
}

function renderCheckRequest({ method, path, host }: HttpCheck, target: CheckTarget): Buffer {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${host === "" ? hostOf(target) : host}`,
    "User-Agent: portolan-check",
    "Accept: */*",
    "Connection: close",
  ];
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
}

function hostOf({ address, port }: CheckTarget): string {
  return address.startsWith("/") ? "localhost" : formatHostPort(address, port);
}
