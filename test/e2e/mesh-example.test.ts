import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { freePortBlock } from "../support/free-ports.ts";
import { requires } from "../support/requires.ts";

const RUN = fileURLToPath(new URL("../../examples/mesh/run.mjs", import.meta.url));
const LATER = { timeout: 30_000, interval: 100 };
/** Ports that the example uses from its first one on. */
const PORTS = 50;

class Mesh {
  readonly #child: ChildProcess;
  readonly #url: string;
  #text = "";

  constructor(base: number, state: string) {
    this.#url = `http://127.0.0.1:${base + 11}/`;
    const args = [RUN, "--port-base", String(base), "--state", state];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "ignore"] });
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      this.#text += text;
    });
    this.#child = child;
  }

  get log(): string {
    return this.#text;
  }

  /** What is answered at the front, or why nothing is. */
  async call(): Promise<string> {
    try {
      const answer = await fetch(this.#url, { signal: AbortSignal.timeout(5000) });
      const text = await answer.text();
      return answer.ok ? text : `failed: ${text}`;
    } catch (error) {
      return `failed: ${String(error)}`;
    }
  }

  /** The process of that name that was started last. */
  pidOf(name: string): number {
    const all = [...this.#text.matchAll(new RegExp(`^started ${name} pid (\\d+)$`, "gm"))];
    return Number(all.at(-1)?.[1]);
  }

  /** Kills a part, and waits until the example has started it again. */
  async kill(name: string): Promise<void> {
    const pid = this.pidOf(name);
    process.kill(pid, "SIGKILL");
    await expect.poll(() => this.pidOf(name), LATER).not.toBe(pid);
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    this.#child.kill("SIGTERM");
    await once(this.#child, "exit");
  }
}

async function startMesh(): Promise<Mesh> {
  const folder = mkdtempSync(join(tmpdir(), "portolan-example-"));
  const mesh = new Mesh(await freePortBlock(PORTS), join(folder, "state"));
  onTestFinished(async () => {
    await mesh.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  await expect.poll(() => mesh.log, { ...LATER, timeout: 60_000 }).toContain("the mesh is up");
  return mesh;
}

const WHOLE = /^front\(\d+\) > shop\(\d+\) > stock\(\d+\)$/;

/** How many ways there are by what calls that went through were answered: one for each instance of shop. */
function waysOf(mesh: Mesh): () => Promise<number> {
  const seen = new Set<string>();
  return async () => {
    const answer = await mesh.call();
    if (WHOLE.test(answer)) seen.add(answer);
    return seen.size;
  };
}

describe("examples/mesh", requires("linux"), () => {
  test("three services call each other through their sidecars, and outlive each part of it", async () => {
    const mesh = await startMesh();
    await expect.poll(() => mesh.call(), LATER).toMatch(WHOLE);
    await expect.poll(waysOf(mesh), LATER).toBe(2);

    // An instance of a service, and a sidecar: the other ones go on, and it comes back.
    for (const part of ["shop-1", "sidecar-shop-2"]) {
      await mesh.kill(part);
      await expect.poll(() => mesh.call(), LATER).toMatch(WHOLE);
      await expect.poll(waysOf(mesh), LATER).toBe(2);
    }

    // The brain: nobody notices while it is away, nor when it is there again.
    const brain = mesh.pidOf("brain");
    process.kill(brain, "SIGKILL");
    let calls = 0;
    while (mesh.pidOf("brain") === brain || calls < 20) {
      expect(await mesh.call()).toMatch(WHOLE);
      calls += 1;
    }

    // The only way in.
    await mesh.kill("sidecar-front");
    await expect.poll(() => mesh.call(), LATER).toMatch(WHOLE);
  }, 180_000);
});
