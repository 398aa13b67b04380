import { CoreError } from "../../../core/errors.ts";
import type { Certificate } from "../../../core/model/certificate.ts";
import type { Group } from "../../../core/model/group.ts";
import type { Listener, ListenerTls } from "../../../core/model/listener.ts";
import { checkAuthorities, checkPair } from "../../../platform/tls/check-pair.ts";
import type { CertificateConfig } from "../../../proxy/engine-config.ts";
import { FileBook } from "./file-book.ts";
import type { FileEntry } from "./file-entry.ts";

/** What the files of certificates say. */
export interface TlsFiles {
  /** By the key of the certificate. */
  readonly certificates: ReadonlyMap<string, FileEntry<CertificateConfig>>;
  /** PEM text of authorities, by the path of the file. */
  readonly clientCas: ReadonlyMap<string, FileEntry<string>>;
  /** The certificates that are used, by their keys. */
  readonly objects: ReadonlyMap<string, Certificate>;
}

export const NO_TLS_FILES: TlsFiles = {
  certificates: new Map(),
  clientCas: new Map(),
  objects: new Map(),
};

/** The file of the authorities of a listener's clients; empty where they are not asked. */
export function clientCaFileOf(
  { clientCaFile, peers, certificates: [first = ""] }: ListenerTls,
  objects: ReadonlyMap<string, Certificate>,
): string {
  if (clientCaFile !== "" || peers.length === 0) return clientCaFile;
  return objects.get(first)?.caFile ?? "";
}

type Texts = ReadonlyMap<string, FileEntry<string>>;

/**
 * Reads certificates, their keys and the authorities of clients, and follows the files. A certificate
 * and its key are replaced together: as long as they do not fit each other, the pair before them stays.
 */
export class TlsFileBook {
  readonly #texts: FileBook<string>;
  readonly #authorities: FileBook<string>;
  readonly #good = new Map<string, CertificateConfig>();

  constructor(options: { readonly onChanged: () => void; readonly pollMs: number }) {
    this.#texts = new FileBook({ ...options, parse: (text) => text });
    this.#authorities = new FileBook({ ...options, parse: parseAuthorities });
  }

  /** Follows what these listeners and groups use, and nothing else. */
  async follow(
    listeners: readonly Listener[],
    objects: ReadonlyMap<string, Certificate>,
    groups: readonly Group[] = [],
  ): Promise<TlsFiles> {
    const settings = listeners.flatMap(({ tls }) => tls ?? []);
    const dialed = groups.flatMap(({ tls }) => tls?.certificate ?? []);
    const used = new Map<string, Certificate>();
    for (const key of [...settings.flatMap(({ certificates }) => certificates), ...dialed]) {
      const certificate = objects.get(key);
      if (certificate !== undefined) used.set(key, certificate);
    }
    const paths = [...used.values()].flatMap(({ certFiles, keyFile }) => [...certFiles, keyFile]);
    const caFiles = [
      ...settings.map((tls) => clientCaFileOf(tls, used)),
      ...dialed.map((key) => used.get(key)?.caFile ?? ""),
    ].filter((path) => path !== "");
    const [texts, clientCas] = await Promise.all([
      this.#texts.follow(new Set(paths)),
      this.#authorities.follow(new Set(caFiles)),
    ]);
    for (const key of [...this.#good.keys()]) if (!used.has(key)) this.#good.delete(key);
    const certificates = [...used].map(
      ([key, certificate]) => [key, this.#entryOf(key, certificate, texts)] as const,
    );
    return { certificates: new Map(certificates), clientCas, objects: used };
  }

  /** Looks whether a file has changed. */
  async look(): Promise<void> {
    await Promise.all([this.#texts.look(), this.#authorities.look()]);
  }

  close(): void {
    this.#texts.close();
    this.#authorities.close();
    this.#good.clear();
  }

  #entryOf(key: string, certificate: Certificate, texts: Texts): FileEntry<CertificateConfig> {
    const unread = unreadOf(certificate, texts);
    const [certPem, keyPem] = textsOf(certificate, texts);
    const before = this.#good.get(key);
    if (certPem === undefined || keyPem === undefined) return { value: before, problem: unread };
    if (before?.certPem === certPem && before.keyPem === keyPem) {
      return { value: before, problem: unread };
    }
    const problem = checkPair(certPem, keyPem, certificate);
    if (problem !== undefined) return { value: before, problem };
    const value = { key, certPem, keyPem };
    this.#good.set(key, value);
    return { value, problem: unread };
  }
}

/** The certificate with its chain, and the key, as far as they could be read. */
function textsOf(
  { certFiles, keyFile }: Certificate,
  texts: Texts,
): readonly [string | undefined, string | undefined] {
  const parts = certFiles.flatMap((path) => texts.get(path)?.value ?? []);
  const isWhole = parts.length === certFiles.length;
  return [isWhole ? parts.join("\n") : undefined, texts.get(keyFile)?.value];
}

/** The first of its files that can not be read, and why; empty where all can. */
function unreadOf({ certFiles, keyFile }: Certificate, texts: Texts): string {
  for (const path of [...certFiles, keyFile]) {
    const problem = texts.get(path)?.problem ?? "not read yet";
    if (problem !== "") return `${path}: ${problem}`;
  }
  return "";
}

function parseAuthorities(text: string): string {
  const problem = checkAuthorities(text);
  if (problem !== undefined) throw new CoreError("ERR_CONFIG_INVALID", problem);
  return text;
}
