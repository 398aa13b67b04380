import { createServer } from "node:http";
import { CoreError } from "../../core/errors.ts";
import { formatHostPort } from "../../core/model/address.ts";
import type { HealthAnswer } from "./health-answer.ts";

export interface HealthServer {
  close(): Promise<void>;
}

const HEADERS_TIMEOUT_MS = 5000;
/** Load balancers ask again and again; what keeps a connection open without asking is let go. */
const KEEP_ALIVE_TIMEOUT_MS = 30_000;

/** Answers every request on one address. @throws CoreError ERR_LISTEN */
export async function startHealthServer(
  ip: string,
  port: number,
  answer: () => HealthAnswer,
): Promise<HealthServer> {
  const server = createServer(
    { headersTimeout: HEADERS_TIMEOUT_MS, keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS },
    (_, response) => {
      const { status, headers, body } = answer();
      response.writeHead(status, { ...headers, "content-length": Buffer.byteLength(body) });
      response.end(body);
    },
  );
  await new Promise<void>((resolve, reject) => {
    const where = formatHostPort(ip, port);
    server.once("error", (cause) => {
      reject(
        new CoreError("ERR_LISTEN", `can not listen on ${where}: ${cause.message}`, { cause }),
      );
    });
    server.listen({ host: ip, port, ipv6Only: true }, resolve);
  });
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
