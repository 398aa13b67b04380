import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  watch,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { requires } from "../support/requires.ts";
import { EdgeStage } from "./edge-stage.ts";

const run = promisify(execFile);
const IMAGE = "localhost/portolan-test:1";

/** The command lines of all processes that name a folder. */
function commandsWith(folder: string): readonly string[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.map(commandOf).filter((command) => command.includes(folder));
}

/** Empty where it has ended. */
function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return "";
  }
}

/** An engine of its own in a folder, which goes with the test. */
class Podman {
  readonly #folder: string = mkdtempSync(join(tmpdir(), "portolan-podman-"));
  readonly socket: string = join(this.#folder, "podman.sock");

  #args(args: readonly string[]): string[] {
    return [
      ...["--root", join(this.#folder, "root"), "--runroot", join(this.#folder, "run")],
      ...["--storage-driver", "vfs", "--cgroup-manager", "cgroupfs", "--events-backend", "file"],
      ...["--runtime", "runc", ...args],
    ];
  }

  async podman(...args: readonly string[]): Promise<string> {
    return (await run("podman", this.#args(args))).stdout;
  }

  /** An image of nothing but busybox, from a tarball. */
  async importImage(): Promise<void> {
    const root = join(this.#folder, "image");
    mkdirSync(join(root, "bin"), { recursive: true });
    copyFileSync("/bin/busybox", join(root, "bin", "busybox"));
    const tarball = join(this.#folder, "image.tar");
    await run("tar", ["-C", root, "-cf", tarball, "."]);
    await this.podman("import", tarball, IMAGE);
  }

  /** Answers on its socket from then on. */
  async serve(): Promise<void> {
    const args = this.#args(["system", "service", "--time", "0", `unix://${this.socket}`]);
    const ready = new Promise<void>((resolve) => {
      const watcher = watch(this.#folder, (_, name) => {
        if (name !== "podman.sock") return;
        watcher.close();
        resolve();
      });
    });
    const child = spawn("podman", args, { stdio: "ignore" });
    onTestFinished(async () => {
      const ended = once(child, "exit");
      if (child.kill("SIGKILL")) await ended;
    });
    await ready;
  }

  async close(): Promise<void> {
    await this.podman("rm", "--all", "--force", "--time", "0");
    // Those that watched over the containers end a moment after them, and write down that they do.
    await vi.waitFor(() => expect(commandsWith(this.#folder)).toEqual([]), { timeout: 20_000 });
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

describe("containers of podman", requires("linux", "root", "podman", "runc", "busybox"), () => {
  test("are connected by their name and their id, and by nothing else", async () => {
    const stage = new EdgeStage();
    const engine = new Podman();
    onTestFinished(() => engine.close());
    await engine.importImage();
    const limits = ["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024"];
    const start = (name: string): Promise<string> =>
      engine.podman(
        ...[
          "run",
          "--detach",
          "--network",
          "none",
          "--cap-add",
          "NET_RAW",
          "--name",
          name,
          ...limits,
          IMAGE,
        ],
        ...["/bin/busybox", "sleep", "300"],
      );
    await start("shop");
    const id = (await start("database")).trim();
    await engine.serve();
    await stage.start("--subnet", "10.18.0.64/26", "--engine-socket", engine.socket);
    const deploy = (containerId: string, appName: string) =>
      stage.rest("/docker/deploy", { containerId, appName, instanceNumber: 0 });
    expect(await deploy("shop", "shop")).toMatchObject({ body: { nsAddress: "10.18.0.66" } });
    expect(await deploy(id, "database")).toMatchObject({ body: { nsAddress: "10.18.0.67" } });
    expect(await deploy("nobody", "nobody")).toMatchObject({
      status: 400,
      body: { problems: [{ path: "containerId" }] },
    });
    const ping = ["/bin/busybox", "ping", "-c", "1", "-W", "5"];
    expect(await engine.podman("exec", "shop", ...ping, "10.18.0.67")).toContain(
      "1 packets received",
    );
    expect(await engine.podman("exec", "database", ...ping, "fdfe::a:1200:4002")).toContain(
      "1 packets received",
    );
  });
});
