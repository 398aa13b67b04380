import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { ManagerClient } from "../../src/brain/manager/client/manager-client.ts";
import { joinManager, membershipFiles } from "../../src/brain/manager/client/node-membership.ts";
import type { JoinAnswer } from "../../src/brain/manager/messages.ts";
import type { ListenAddress } from "../../src/core/options/listen-address.ts";
import type { Op } from "../../src/core/view/ops.ts";
import { type ApiNodeWatcher, watchNode } from "../../src/sources/api/watch-node.ts";
import { type CliProcess, runCli, startCli } from "../support/cli.ts";
import { freePortBlock } from "../support/free-ports.ts";
import { clientOptions, createReport } from "./api-brain.ts";
import { NO_PORTS } from "./up-fixture.ts";

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "portolan-manager-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A place for a manager, which can be started there again and again. */
export interface ManagerPlace {
  readonly state: string;
  readonly address: Extract<ListenAddress, { kind: "tcp" }>;
  start(args?: readonly string[]): Promise<CliProcess>;
  /** A word of `portolan manager`. @returns what it prints */
  ask(...words: readonly string[]): Promise<string>;
}

export async function managerPlace(): Promise<ManagerPlace> {
  const state = join(makeFolder(), "state");
  const port = await freePortBlock(1);
  return {
    state,
    address: { kind: "tcp", host: "127.0.0.1", port },
    start: async (args = []) => {
      const listen = ["--api-listen", `127.0.0.1:${port}`, "--state", state];
      const cli = startCli(["manager", ...listen, ...NO_PORTS, ...args]);
      await cli.waitFor(/what commands make is kept in/, "stderr");
      return cli;
    },
    ask: async (...words) => {
      const { code, stdout, stderr } = await runCli(["manager", ...words, "--state", state]);
      if (code !== 0) throw new Error(`${code}: ${stderr}`);
      return stdout;
    },
  };
}

/** A node as its agent is one. */
export class TestNode {
  readonly name: string;
  readonly folder: string = makeFolder();

  constructor(name: string) {
    this.name = name;
  }

  join({ address }: Pick<ManagerPlace, "address">, token: string): Promise<JoinAnswer> {
    const place = { addresses: ["192.0.2.1"], zone: "", labels: {} };
    return joinManager(address, this.folder, { token: token.trim(), node: this.name, ...place });
  }

  /** One call of one connection. */
  async call(
    { address }: Pick<ManagerPlace, "address">,
    method: string,
    request: object,
  ): Promise<unknown> {
    const client = await ManagerClient.connect({ address, tls: membershipFiles(this.folder) });
    try {
      return await client.call(method, request);
    } finally {
      client.close();
    }
  }

  /** Renews until the result is called. */
  async keepAlive(
    { address }: Pick<ManagerPlace, "address">,
    everyMs: number,
  ): Promise<() => void> {
    const client = await ManagerClient.connect({ address, tls: membershipFiles(this.folder) });
    const renew = (): void => void client.call("Renew", {}).catch(() => undefined);
    const timer = setInterval(renew, everyMs);
    const stop = (): void => {
      clearInterval(timer);
      client.close();
    };
    onTestFinished(stop);
    await client.call("Renew", {});
    return stop;
  }

  follow(
    { address }: Pick<ManagerPlace, "address">,
    interest: readonly string[],
    nodeName: string = this.name,
  ): ApiNodeWatcher & { readonly report: ReturnType<typeof createReport> } {
    const tls = membershipFiles(this.folder);
    const report = createReport();
    const options = { ...clientOptions(address.port), address, tls };
    const watcher = watchNode(options, { nodeName, sets: [], interest }, report);
    onTestFinished(() => watcher.close());
    return Object.assign(watcher, { report });
  }
}

export const words = (ops: readonly Op[]): readonly string[] =>
  ops.map((op) => ("path" in op ? `${op.op} ${op.path}` : op.op));

/** Instance `instance` of `default/web`. */
export function web(instance: number, address: string): object {
  return { service: "default/web", instance, addresses: [address] };
}
