import { readFile } from "node:fs/promises";
import { type ClientHttp2Session, connect as connectSession } from "node:http2";
import { connect as connectSocket, isIP } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectTls, createSecureContext, type SecureContext } from "node:tls";
import { CoreError, type ErrorCode, messageOf } from "../../core/errors.ts";
import { formatListenAddress, type ListenAddress } from "../../core/options/listen-address.ts";

/** PEM files; they are read at each connection, so renewed ones are taken up by themselves. */
export interface Http2ClientTls {
  /** What this program shows; with its key, or not at all. */
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
  /** The authorities that the server's certificate must come from; those of the system where it is missing. */
  readonly caFile?: string | undefined;
}

export interface Http2Target {
  readonly address: ListenAddress;
  /** Undefined: no TLS. */
  readonly tls?: Http2ClientTls | undefined;
}

/** How errors speak of the server. */
export interface Http2Words {
  /** `the API`. */
  readonly what: string;
  readonly code: ErrorCode;
}

/** The server may send so much ahead of what is read here; less makes a whole state slow. */
const STREAM_WINDOW_BYTES = 1_048_576;
const CONNECTION_WINDOW_BYTES = 2_097_152;
const MAX_FRAME_BYTES = 65_536;

const CLOSED = "the connection was closed";
/** Not every server tells it by an alert. */
const CLOSED_WITH_TLS = `${CLOSED}; the server may have refused the certificate of this client`;

/** The name that a server's certificate must have where it is reached without one. */
const UNIX_SERVER_NAME = "localhost";

/**
 * Connects to a server that speaks HTTP/2 from the start.
 * @param signal gives the connection up: nothing of it keeps a program that ends from doing so
 * @throws CoreError with the code of `words`, ERR_ABORTED, or ERR_CONFIG_INVALID where a TLS file can not be read
 */
export async function connectHttp2(
  target: Http2Target,
  words: Http2Words,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<ClientHttp2Session> {
  const tls = target.tls && (await readTls(target.tls, words));
  if (signal?.aborted) throw ended();
  const socket = openSocket(target.address, tls);
  const session = connectSession(tls === undefined ? "http://server" : "https://server", {
    createConnection: () => socket,
    settings: {
      enablePush: false,
      initialWindowSize: STREAM_WINDOW_BYTES,
      maxFrameSize: MAX_FRAME_BYTES,
    },
  });
  // For errors that come when nobody waits for one: its end is seen by its streams.
  session.on("error", () => undefined);
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      clearTimeout(timer);
      socket.off("error", fail);
      session.off("error", fail);
      session.off("close", closed);
      session.off("remoteSettings", ready);
      signal?.removeEventListener("abort", abort);
    };
    const giveUp = (error: CoreError): void => {
      settle();
      session.destroy();
      reject(error);
    };
    const fail = (cause: unknown): void => giveUp(unreachable(target, words, cause));
    const abort = (): void => giveUp(ended());
    const closed = (): void => fail(new Error(tls === undefined ? CLOSED : CLOSED_WITH_TLS));
    // Only the peer's settings show that something answers that speaks HTTP/2 and, with TLS 1.3,
    // that it took our certificate.
    const ready = (): void => {
      settle();
      session.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
      resolve(session);
    };
    const timer = setTimeout(() => fail(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
    // With TLS 1.3 a server says only after the handshake why it refuses a certificate; the session
    // keeps that to itself until it ends.
    socket.once("error", fail);
    session.once("error", fail);
    session.once("close", closed);
    session.once("remoteSettings", ready);
    signal?.addEventListener("abort", abort, { once: true });
  });
}

function ended(): CoreError {
  return new CoreError("ERR_ABORTED", "the wait for a connection was ended");
}

function unreachable({ address }: Http2Target, words: Http2Words, cause: unknown): CoreError {
  const reason = tlsReasonOf(cause) ?? messageOf(cause);
  return new CoreError(
    words.code,
    `${words.what} at ${formatListenAddress(address)} can not be reached: ${reason}`,
    { cause },
  );
}

/** What the TLS layer says in words, such as the alert that the server sent; its message has more for machines. */
function tlsReasonOf(cause: unknown): string | undefined {
  if (!(cause instanceof Error) || !("reason" in cause) || !("library" in cause)) return undefined;
  return `TLS: ${String(cause.reason)}`;
}

function openSocket(address: ListenAddress, tls: SecureContext | undefined): Duplex {
  const place = address.kind === "unix" ? { path: address.path } : address;
  if (tls === undefined) return connectSocket(place);
  const name = address.kind === "unix" ? UNIX_SERVER_NAME : address.host;
  return connectTls({
    ...place,
    secureContext: tls,
    ALPNProtocols: ["h2"],
    // An address is not a name that could be asked for; it is checked as the host all the same.
    ...(isIP(name) === 0 ? { servername: name } : {}),
  });
}

async function readTls(tls: Http2ClientTls, words: Http2Words): Promise<SecureContext> {
  const place = `TLS to ${words.what}`;
  const files = [tls.certFile, tls.keyFile, tls.caFile];
  const [cert, key, ca] = await Promise.all(files.map((file) => file && readPem(file, place)));
  try {
    return createSecureContext({
      minVersion: "TLSv1.2",
      ...(cert && { cert }),
      ...(key && { key }),
      ...(ca && { ca }),
    });
  } catch (cause) {
    const named = files.filter((file) => file !== undefined).join(", ");
    throw new CoreError(
      "ERR_CONFIG_INVALID",
      `${place}: ${named}: ${tlsReasonOf(cause) ?? String(cause)}; expected PEM: a certificate, its key, and the authorities`,
      { cause },
    );
  }
}

async function readPem(file: string, place: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    const reason = messageOf(error);
    throw new CoreError("ERR_CONFIG_INVALID", `${place}: ${reason}`, { cause: error });
  }
}
