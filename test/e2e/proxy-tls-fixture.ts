import { once } from "node:events";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { type ConnectionOptions, connect, type TLSSocket } from "node:tls";
import { generate } from "selfsigned";
import { onTestFinished } from "vitest";
import type {
  CertificateConfig,
  EngineConfig,
  ListenerConfig,
} from "../../src/proxy/engine-config.ts";
import { configOf, LOCAL } from "./proxy-config.ts";

export interface Pair {
  readonly certPem: string;
  readonly keyPem: string;
}

type KeyType = "ec" | "rsa";

/** Makes certificates; each test run has authorities of its own. */
export class Authority {
  readonly certPem: string;
  readonly #keyPem: string;
  readonly #keyType: KeyType;

  private constructor({ certPem, keyPem }: Pair, keyType: KeyType) {
    this.certPem = certPem;
    this.#keyPem = keyPem;
    this.#keyType = keyType;
  }

  /** @param keyType also of the certificates that it issues */
  static async create(name = "authority", keyType: KeyType = "ec"): Promise<Authority> {
    const made = await generate([{ name: "commonName", value: name }], {
      algorithm: "sha256",
      keyType,
      extensions: [{ name: "basicConstraints", cA: true, critical: true }],
    });
    return new Authority({ certPem: made.cert, keyPem: made.private }, keyType);
  }

  /** A certificate for host names; the first is also its common name. */
  async issue(names: readonly string[]): Promise<Pair> {
    const made = await generate([{ name: "commonName", value: names[0] ?? "nobody" }], {
      algorithm: "sha256",
      keyType: this.#keyType,
      ca: { key: this.#keyPem, cert: this.certPem },
      extensions: [
        {
          name: "subjectAltName",
          altNames: names.map((value) => ({ type: 2, value })),
        },
      ],
    });
    return { certPem: made.cert, keyPem: made.private };
  }
}

/** One listener with TLS before one group of servers. */
export function tlsConfigOf(
  ports: readonly number[],
  pairs: readonly Pair[],
  more: { readonly listener?: Partial<ListenerConfig>; readonly clientCaPem?: string } = {},
): EngineConfig {
  const certificates = pairs.map(
    (pair, index): CertificateConfig => ({ key: `certificate-${index}`, ...pair }),
  );
  const tls = {
    certificates: certificates.map(({ key }) => key),
    clientCaPem: more.clientCaPem ?? "",
  };
  return { ...configOf(ports, { listener: { ...more.listener, tls } }), certificates };
}

/** A client whose handshake is over; rejects where it fails. */
export async function dialTls(
  port: number,
  options: ConnectionOptions & { readonly allowHalfOpen?: boolean } = {},
): Promise<TLSSocket> {
  const socket = connect({
    host: LOCAL,
    port,
    servername: "a.example",
    rejectUnauthorized: false,
    ...options,
  });
  onTestFinished(() => {
    socket.destroy();
  });
  await once(socket, "secureConnect");
  socket.on("error", () => undefined);
  return socket;
}

/** The common name of the certificate that the client was shown. */
export function shownName(socket: TLSSocket): string {
  return String(socket.getPeerCertificate().subject.CN);
}

/** What carries a client's TLS, a connection that knows nothing of it; `send` may change how. */
export function wireOver(
  raw: Socket,
  send: (chunk: Buffer, done: () => void) => void = (chunk, done) => void raw.write(chunk, done),
): Duplex {
  const wire = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) => send(chunk, done),
  });
  raw.on("data", (chunk) => wire.push(chunk)).on("end", () => wire.push(null));
  return wire;
}
