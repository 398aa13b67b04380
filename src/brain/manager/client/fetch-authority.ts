import { connect, type DetailedPeerCertificate } from "node:tls";
import { CoreError, messageOf } from "../../../core/errors.ts";
import { formatListenAddress, type ListenAddress } from "../../../core/options/listen-address.ts";
import { pinOf } from "../../identity/pin.ts";

const TIMEOUT_MS = 10_000;
const LINE = 64;

/**
 * The certificate of a manager's authority, PEM, of which a join token tells the hash: with it, and not before,
 * the manager can be checked.
 * @param signal ends the wait
 * @throws CoreError ERR_API_UNREACHABLE, ERR_ABORTED, ERR_UNAUTHORIZED where it is another manager
 */
export function fetchAuthority(
  address: ListenAddress,
  pin: string,
  signal?: AbortSignal,
): Promise<string> {
  const place = address.kind === "unix" ? { path: address.path } : address;
  const where = formatListenAddress(address);
  return new Promise((resolve, reject) => {
    // Nothing is said over this connection.
    const socket = connect({ ...place, rejectUnauthorized: false, ALPNProtocols: ["h2"] });
    const fail = (cause: unknown): void => {
      socket.destroy();
      const why = `the manager at ${where} can not be reached: ${messageOf(cause)}`;
      reject(new CoreError("ERR_API_UNREACHABLE", why, { cause }));
    };
    const abort = (): void => {
      socket.destroy();
      reject(new CoreError("ERR_ABORTED", "the wait for the manager was ended"));
    };
    if (signal?.aborted) abort();
    signal?.addEventListener("abort", abort, { once: true });
    socket.once("close", () => signal?.removeEventListener("abort", abort));
    // Also where the other end does not close it.
    socket.setTimeout(TIMEOUT_MS, () => fail(new Error(`no answer within ${TIMEOUT_MS} ms`)));
    socket.once("error", fail);
    socket.once("secureConnect", () => {
      const found = findPinned(socket.getPeerCertificate(true), pin);
      // In order: to the manager a connection that breaks off now is one whose handshake failed.
      socket.off("error", fail).on("error", () => undefined);
      socket.resume().end();
      if (found !== undefined) resolve(pemOf(found));
      else {
        const why = `the manager at ${where} is not the one that the join token is of; expected that one's address`;
        reject(new CoreError("ERR_UNAUTHORIZED", why));
      }
    });
  });
}

function findPinned(leaf: DetailedPeerCertificate, pin: string): Buffer | undefined {
  const seen = new Set<string>();
  let at: DetailedPeerCertificate | undefined = leaf;
  while (at?.raw !== undefined && !seen.has(at.fingerprint256)) {
    if (pinOf(at.raw) === pin) return at.raw;
    seen.add(at.fingerprint256);
    at = at.issuerCertificate;
  }
  return undefined;
}

function pemOf(der: Buffer): string {
  const lines = der.toString("base64").match(new RegExp(`.{1,${LINE}}`, "g")) ?? [];
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
}
