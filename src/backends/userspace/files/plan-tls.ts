import type { Listener } from "../../../core/model/listener.ts";
import type { TlsConfig } from "../../../proxy/engine-config.ts";
import type { NodeFacts } from "../node-facts.ts";
import type { TlsFiles } from "./tls-file-book.ts";

/** What files make of the TLS of a listener. */
export interface TlsPlan {
  readonly tls: TlsConfig | undefined;
  /** Why the listener must not be opened; undefined where it may. */
  readonly obstacle?: string | undefined;
  /** What can not be honoured while it is open. */
  readonly notes: readonly string[];
}

const PLAIN: TlsPlan = { tls: undefined, notes: [] };

/**
 * The TLS of a listener. It is opened with the certificates that can be used, and stays closed where
 * there is none, or where clients could not be told from strangers.
 */
export function planTls(
  { tls, mode }: Listener,
  { certificates, clientCas }: TlsFiles,
  facts: NodeFacts,
): TlsPlan {
  if (tls === undefined) return PLAIN;
  const refused = refusalOf(mode, facts);
  if (refused !== undefined) return { ...PLAIN, obstacle: refused };
  const notes: string[] = [];
  const usable = tls.certificates.filter((key) => {
    const { value, problem } = certificates.get(key) ?? NO_CERTIFICATE;
    if (problem !== "") notes.push(`Certificate ${key}: ${problem}${keptWords(value)}`);
    return value !== undefined;
  });
  if (usable.length === 0) return { ...PLAIN, obstacle: notes.join("; ") };
  const { clientCaFile } = tls;
  if (clientCaFile === "") return { tls: { certificates: usable, clientCaPem: "" }, notes };
  const { value, problem } = clientCas.get(clientCaFile) ?? NOT_READ;
  const what = `clientCaFile ${clientCaFile}: ${problem}`;
  if (value === undefined) return { ...PLAIN, obstacle: what };
  if (problem !== "") notes.push(`${what}${keptWords(value)}`);
  return { tls: { certificates: usable, clientCaPem: value }, notes };
}

const NO_CERTIFICATE = { value: undefined, problem: "there is none of that name" };
const NOT_READ = { value: undefined, problem: "not read yet" };

function refusalOf(mode: Listener["mode"], { tlsObstacle }: NodeFacts): string | undefined {
  if (mode === "udp" || mode === "dns") return `TLS is not for mode ${mode}`;
  return tlsObstacle;
}

function keptWords(value: unknown): string {
  return value === undefined ? "" : "; what was there before is kept";
}
