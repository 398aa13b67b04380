import { connect } from "node:net";
import type { HostPort } from "../core/model/address.ts";

/** Connects and closes. @returns why that failed; empty where it did not */
export function checkPort(
  { host, port }: HostPort,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const settle = (reason: string): void => {
      signal.removeEventListener("abort", ended);
      clearTimeout(timer);
      socket.destroy();
      resolve(reason);
    };
    const ended = (): void => settle("the check was ended");
    const timer = setTimeout(() => settle(`no answer within ${timeoutMs} ms`), timeoutMs);
    signal.addEventListener("abort", ended, { once: true });
    socket.once("connect", () => settle(""));
    socket.once("error", (error) => settle(error.message));
  });
}
