import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import type { NamespaceNetwork } from "./namespace-network.ts";
import type { PartyName } from "./plan-network.ts";

/** A program in a namespace that is spoken to in lines. */
export class Lines {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(network: NamespaceNetwork, party: PartyName, script: string) {
    const child = network.inside(party, () =>
      spawn(process.execPath, ["-e", script], { stdio: ["pipe", "pipe", "inherit"] }),
    );
    onTestFinished(async () => {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    });
    this.#child = child;
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  }

  async next(): Promise<string> {
    const { value } = await this.#lines.next();
    return String(value);
  }

  ask(line: string): Promise<string> {
    this.#child.stdin?.write(`${line}\n`);
    return this.next();
  }
}
