import { onTestFinished } from "vitest";
import type { ModelObject } from "../../../src/core/model/object.ts";
import { BackendProcess } from "../../netns/backend-process.ts";
import { NODE } from "../../netns/play.ts";
import { Stage } from "../../netns/stage.ts";

/** The only one that works in this kernel. */
const OPTIONS = { iptablesMode: "legacy" } as const;

/** The node under test, with a backend, and with the tools that read what it programmed. */
export class Machine {
  readonly stage: Stage = Stage.open();
  backend: BackendProcess = new BackendProcess(this.stage.network);

  static async open(options: Readonly<Record<string, string | string[]>> = {}): Promise<Machine> {
    const machine = new Machine();
    onTestFinished(async () => {
      await machine.backend.close();
      machine.stage.close();
    });
    await machine.backend.start("ipvs", { ...OPTIONS, ...options });
    return machine;
  }

  /** As if it had crashed, and perhaps another one took its place. */
  async restart(backend = "ipvs"): Promise<void> {
    await this.backend.kill();
    this.backend = new BackendProcess(this.stage.network);
    await this.backend.start(backend, OPTIONS);
  }

  apply(...objects: readonly ModelObject[]): Promise<void> {
    return this.backend.apply([NODE, ...objects]);
  }

  run(program: string, ...args: readonly string[]): string {
    return this.stage.network.exec("node-a", program, args);
  }

  /** With something to read. */
  feed(stdin: string, program: string, ...args: readonly string[]): string {
    return this.stage.network.exec("node-a", program, args, stdin);
  }

  /** All that is programmed, as the tools print it, without what is counted. */
  state(): string {
    return [
      this.run("ipvsadm", "-Sn"),
      this.run("ipset", "save", "-sorted").replace(/ (hashsize|bucketsize|initval) \S+/g, ""),
      this.run("ip", "-br", "address", "show", "kube-ipvs0"),
      this.run("iptables-legacy-save").replace(/^#.*\n|\[\d+:\d+\]/gm, ""),
      this.run("ip6tables-legacy-save").replace(/^#.*\n|\[\d+:\d+\]/gm, ""),
    ].join("\n");
  }

  /** `TCP 10.96.0.10:80 -> 10.244.1.12:7777 weight 0`, for each real server. */
  weights(): string[] {
    let server = "";
    return this.run("ipvsadm", "-Ln")
      .split("\n")
      .flatMap((line) => {
        const head = /^(TCP|UDP|SCTP|FWM) +(\S+)/.exec(line);
        if (head !== null) server = `${head[1]} ${head[2]}`;
        const real = /-> (\S+) +Masq +(\d+)/.exec(line);
        return real === null ? [] : [`${server} -> ${real[1]} weight ${real[2]}`];
      });
  }
}
