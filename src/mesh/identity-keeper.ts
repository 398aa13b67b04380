import { createPrivateKey, generateKeyPairSync, X509Certificate } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import * as z from "zod";
import { parseToken } from "../brain/identity/join-token.ts";
import { pinOf } from "../brain/identity/pin.ts";
import { identityOf, SERVICE_KIND } from "../brain/identity/spiffe-id.ts";
import { fetchAuthority } from "../brain/manager/client/fetch-authority.ts";
import { ManagerClient } from "../brain/manager/client/manager-client.ts";
import { abortable } from "../core/abortable.ts";
import { type BackoffOptions, backoffMs } from "../core/backoff.ts";
import { CoreError, messageOf } from "../core/errors.ts";
import type { MetricFamily } from "../core/metrics/metric-family.ts";
import type { ListenAddress } from "../core/options/listen-address.ts";
import { replaceFile } from "../platform/replace-file.ts";
import type { IdentityFiles } from "./identity-files.ts";
import type { RetryWorld } from "./retry-until.ts";

export interface IdentityKeeperOptions extends RetryWorld {
  readonly manager: ListenAddress;
  /** NAMESPACE/NAME. */
  readonly service: string;
  readonly tokenFile: string;
  readonly files: IdentityFiles;
  readonly nowMs: () => number;
  readonly tell: (state: IdentityState) => void;
}

export interface IdentityState {
  /** 0 where there is none. */
  readonly expiresMs: number;
  /** Why it could not be renewed; empty where it could. */
  readonly problem: string;
}

const OWNER_ONLY_FOLDER = 0o700;
const MS_PER_SECOND = 1000;
/** A third of its time is left when it is renewed: a manager may be away for so long. */
const RENEW_AT = 2 / 3;
/** No longer at a time: a clock may be set meanwhile, and timers stand still while a machine sleeps. */
const MAX_WAIT_MS = 60_000;
const BACKOFF: BackoffOptions = { firstMs: 200, maxMs: 10_000 };

const credentialsSchema = z.object({
  certificate: z.string(),
  authority: z.string(),
  expiresMs: z.number(),
});

/**
 * Keeps the certificate of a service in files, and has it renewed in time, each time with a new key. The files have
 * one owner at a time: one that is closed writes nothing, and may be started again.
 */
export class IdentityKeeper {
  readonly #options: IdentityKeeperOptions;
  #ended = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #renewMs = 0;
  #state: IdentityState = { expiresMs: 0, problem: "" };
  #renewals = 0;

  constructor(options: IdentityKeeperOptions) {
    this.#options = options;
  }

  /** Settles when it was tried once, or what is kept is still good. */
  async start(): Promise<void> {
    this.#ended = new AbortController();
    const { signal } = this.#ended;
    const begun = this.#begin(signal);
    this.#running = begun.then(() => this.#run(signal));
    await begun;
  }

  /** Settles when nothing is written any more. */
  async close(): Promise<void> {
    this.#ended.abort();
    await this.#running;
  }

  metrics(): readonly MetricFamily[] {
    return [
      {
        name: "mesh_identity_expires_seconds",
        help: "When the certificate of this instance ends, in seconds since 1970; 0 where there is none",
        kind: "gauge",
        samples: [{ labels: {}, value: Math.floor(this.#state.expiresMs / MS_PER_SECOND) }],
      },
      {
        name: "mesh_identity_renewals_total",
        help: "Certificates that this instance was given",
        kind: "counter",
        samples: [{ labels: {}, value: this.#renewals }],
      },
    ];
  }

  async #begin(signal: AbortSignal): Promise<void> {
    this.#renewMs = 0;
    await this.#readKept();
    if (this.#renewMs <= this.#options.nowMs()) await this.#renew(signal);
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { nowMs, sleep, random } = this.#options;
    let failures = this.#state.problem === "" ? 0 : 1;
    while (!signal.aborted) {
      const leftMs = Math.max(0, this.#renewMs - nowMs());
      const waitMs = failures > 0 ? backoffMs(BACKOFF, failures, random()) : leftMs;
      await sleep(Math.min(waitMs, MAX_WAIT_MS), signal).catch(() => undefined);
      if (signal.aborted) return;
      if (waitMs > MAX_WAIT_MS) continue;
      failures = (await this.#renew(signal)) ? 0 : failures + 1;
    }
  }

  /** @returns whether it succeeded */
  async #renew(signal: AbortSignal): Promise<boolean> {
    try {
      this.#keep(await this.#ask(signal));
      this.#renewals += 1;
      this.#assertLasts();
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      this.#state = { ...this.#state, problem: messageOf(error) };
      this.#options.tell(this.#state);
      return false;
    }
  }

  /** One that is over when it comes would be asked for again and again, without an end. */
  #assertLasts(): void {
    const { expiresMs } = this.#state;
    if (expiresMs > this.#options.nowMs()) return;
    const ended = new Date(expiresMs).toISOString();
    throw new CoreError(
      "ERR_UNAUTHORIZED",
      `the certificate that the manager gave ended at ${ended} by the clock of this machine; expected both clocks to be right`,
    );
  }

  /** Who ends waits for no manager. */
  async #ask(signal: AbortSignal): Promise<string> {
    const { manager: address, service, tokenFile, files } = this.#options;
    const token = (await readFile(tokenFile, "utf8")).trim();
    const { pin } = parseToken(token);
    await mkdir(files.folder, { recursive: true, mode: OWNER_ONLY_FOLDER });
    // The token says which authority it is: nobody else is told anything.
    const known = await readFile(files.caFile, "utf8").catch(() => undefined);
    if (known === undefined || !isPinned(known, pin)) {
      await replaceFile(files.caFile, await fetchAuthority(address, pin, signal));
    }
    const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const target = { address, tls: { caFile: files.caFile } };
    const client = await ManagerClient.connect(target, signal);
    try {
      const pem = String(publicKey.export({ format: "pem", type: "spki" }));
      const asked = client.call("Identify", { token, service, publicKey: pem });
      const answer = await abortable(asked, signal);
      const { success, data } = credentialsSchema.safeParse(answer);
      if (!success) {
        throw new CoreError("ERR_API_PROTOCOL", "the manager answers wrongly: no certificate");
      }
      // Until both are there they do not fit, and who follows the files goes on with the ones before.
      await replaceFile(files.keyFile, String(privateKey.export({ format: "pem", type: "pkcs8" })));
      await replaceFile(files.certFile, data.certificate);
      return data.certificate;
    } finally {
      client.close();
    }
  }

  /** What an earlier run has left, where all of it is there and fits; else it is asked for anew. */
  async #readKept(): Promise<void> {
    const { files, service, tokenFile } = this.#options;
    const read = (path: string): Promise<string> => readFile(path, "utf8");
    try {
      const certificate = await read(files.certFile);
      const [key, authority] = await Promise.all([read(files.keyFile), read(files.caFile)]);
      const token = await read(tokenFile).catch(() => undefined);
      const isExpected = token === undefined || isPinned(authority, parseToken(token).pin);
      if (isExpected && isWhole({ certificate, key, authority }, service)) this.#keep(certificate);
    } catch {
      // Nothing is there yet, or a process was killed between two files: what is asked for mends it.
    }
  }

  #keep(certificate: string): void {
    const { nowMs, tell } = this.#options;
    const expiresMs = Date.parse(new X509Certificate(certificate).validTo);
    const leftMs = expiresMs - nowMs();
    this.#renewMs = nowMs() + leftMs * RENEW_AT;
    this.#state = { expiresMs, problem: "" };
    tell(this.#state);
  }
}

/** @throws where one of them can not be read */
function isWhole(
  texts: { readonly certificate: string; readonly key: string; readonly authority: string },
  service: string,
): boolean {
  const certificate = new X509Certificate(texts.certificate);
  const identity = identityOf(certificate.subjectAltName);
  return (
    identity?.kind === SERVICE_KIND &&
    identity.name === service &&
    certificate.checkPrivateKey(createPrivateKey(texts.key)) &&
    certificate.verify(new X509Certificate(texts.authority).publicKey)
  );
}

function isPinned(authority: string, pin: string): boolean {
  try {
    return pinOf(new X509Certificate(authority).raw) === pin;
  } catch {
    return false;
  }
}
