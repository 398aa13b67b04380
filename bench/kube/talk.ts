import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type * as z from "zod";

/** A task that runs beside the others and is spoken to. */
export class Talk<R> {
  readonly #child: ChildProcess;
  readonly #replies: R[] = [];
  readonly #failed: Promise<never>;
  #wake: () => void = () => undefined;

  constructor(task: URL, args: readonly string[], replies: z.ZodType<R>) {
    this.#child = fork(fileURLToPath(task), [...args], {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    this.#child.on("message", (raw) => {
      this.#replies.push(replies.parse(raw));
      this.#wake();
    });
    this.#failed = new Promise((_, reject) => {
      this.#child.once("exit", (code, signal) => {
        reject(new Error(`${task.pathname} ended with ${signal ?? code}`));
      });
    });
    this.#failed.catch(() => undefined);
  }

  send(order: object): void {
    this.#child.send(order);
  }

  /** The next one of that kind; what came before it is left out. */
  async next<K extends string>(is: K): Promise<Extract<R, { readonly is: K }>> {
    for (;;) {
      const reply = this.#replies.shift();
      if (reply !== undefined && isOf(reply, is)) return reply;
      if (reply !== undefined) continue;
      const came = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      await Promise.race([came, this.#failed]);
    }
  }

  close(): void {
    this.#child.disconnect();
  }
}

function isOf<R, K extends string>(reply: R, is: K): reply is Extract<R, { readonly is: K }> {
  return typeof reply === "object" && reply !== null && "is" in reply && reply.is === is;
}
