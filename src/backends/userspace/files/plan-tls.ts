import type { GroupTls } from "../../../core/model/group.ts";
import type { Listener } from "../../../core/model/listener.ts";
import type { DialTlsConfig, TlsConfig } from "../../../proxy/engine-config.ts";
import type { NodeFacts } from "../node-facts.ts";
import { clientCaFileOf, type TlsFiles } from "./tls-file-book.ts";

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
  { certificates, clientCas, objects }: TlsFiles,
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
  const { peers } = tls;
  const clientCaFile = clientCaFileOf(tls, objects);
  if (clientCaFile === "" && peers.length > 0) {
    return { ...PLAIN, obstacle: "peers: there is no authority to know them by (clientCaFile)" };
  }
  if (clientCaFile === "") return { tls: { certificates: usable, clientCaPem: "", peers }, notes };
  const { value, problem } = clientCas.get(clientCaFile) ?? NOT_READ;
  const what = `clientCaFile ${clientCaFile}: ${problem}`;
  if (value === undefined) return { ...PLAIN, obstacle: what };
  if (problem !== "") notes.push(`${what}${keptWords(value)}`);
  return { tls: { certificates: usable, clientCaPem: value, peers }, notes };
}

/** TLS to the servers of a group, as far as files say it. */
export interface DialTlsPlan {
  readonly tls: DialTlsConfig | undefined;
  /** Why its servers must not be called; undefined where they may. */
  readonly obstacle?: string | undefined;
}

/** Where it can not be had nobody is called: never without it. */
export function planDialTls(
  { certificate: key, peers }: GroupTls,
  { certificates, clientCas, objects }: TlsFiles,
  { tlsObstacle }: Pick<NodeFacts, "tlsObstacle">,
): DialTlsPlan {
  if (tlsObstacle !== undefined) return { tls: undefined, obstacle: tlsObstacle };
  const { value: certificate, problem } = certificates.get(key) ?? NO_CERTIFICATE;
  if (certificate === undefined) {
    return { tls: undefined, obstacle: `Certificate ${key}: ${problem}` };
  }
  const caFile = objects.get(key)?.caFile ?? "";
  if (caFile === "") {
    return { tls: undefined, obstacle: `Certificate ${key}: it has no caFile to know servers by` };
  }
  const authorities = clientCas.get(caFile) ?? NOT_READ;
  if (authorities.value === undefined) {
    return { tls: undefined, obstacle: `caFile ${caFile}: ${authorities.problem}` };
  }
  return { tls: { certificate, caPem: authorities.value, peers } };
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
