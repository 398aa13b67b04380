import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished, vi } from "vitest";
import type { CertificateFiles } from "./certificates.ts";

/** Where something runs: a network namespace, or just here. */
export interface RunPlace {
  run<T>(work: () => T): T;
}

export const HERE: RunPlace = { run: (work) => work() };

const PATH = `${process.env["PATH"]}:/usr/sbin`;

export interface MosquittoOptions {
  readonly place: RunPlace;
  readonly port: number;
  /** 127.0.0.1 where it is not given. */
  readonly address?: string;
  /** It takes only clients that have a certificate of this authority. */
  readonly tls?: CertificateFiles;
}

/** The real mosquitto; it ends with the test. */
export class Mosquitto {
  readonly #options: MosquittoOptions;
  readonly #folder = mkdtempSync(join(tmpdir(), "portolan-mosquitto-"));
  #process: ChildProcess | undefined;

  constructor(options: MosquittoOptions) {
    this.#options = options;
    const { port, address = "127.0.0.1", tls } = options;
    const secret = tls && [
      ...[`cafile ${tls.caFile}`, `certfile ${tls.certFile}`, `keyfile ${tls.keyFile}`],
      "require_certificate true",
    ];
    // Another user could not read the files of the test.
    const lines = ["user root", "allow_anonymous true", `listener ${port} ${address}`];
    const all = [...lines, ...(secret ?? []), `listener 0 ${this.socketPath}`, ""];
    writeFileSync(this.#config, all.join("\n"));
    onTestFinished(async () => {
      await this.kill();
      rmSync(this.#folder, { recursive: true, force: true });
    });
  }

  /** It answers there as well, whatever the network of who asks. */
  get socketPath(): string {
    return join(this.#folder, "mosquitto.sock");
  }

  get #config(): string {
    return join(this.#folder, "mosquitto.conf");
  }

  async start(): Promise<void> {
    // It ends with this process, also where that is killed.
    const words = ["--pdeathsig", "KILL", "mosquitto", "-c", this.#config];
    const env = { ...process.env, PATH };
    const { place } = this.#options;
    this.#process = place.run(() => spawn("setpriv", words, { stdio: "ignore", env }));
    await vi.waitFor(() => this.#reach(), { timeout: 20_000, interval: 50 });
  }

  async kill(): Promise<void> {
    const there = this.#process;
    this.#process = undefined;
    if (there === undefined || there.exitCode !== null) return;
    const gone = once(there, "exit");
    there.kill("SIGKILL");
    await gone;
  }

  async #reach(): Promise<void> {
    const socket = connect(this.socketPath);
    try {
      await once(socket, "connect");
    } finally {
      socket.destroy();
    }
  }
}
