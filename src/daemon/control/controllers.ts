import type { Control } from "../../control/control.ts";
import type {
  ControllerState,
  ControllersPort,
  ControlWorld,
  RuntimeEntry,
} from "../../control/world.ts";
import { CoreError, messageOf } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import {
  formatListenAddress,
  type ListenAddress,
  parseListenAddress,
} from "../../core/options/listen-address.ts";
import type { ControlConfig, ControllerConfig } from "../control-config.ts";
import { readSecretFile } from "../control-config.ts";
import type { LaterAddress } from "../servers.ts";
import { explainTaken } from "../who-listens.ts";

type ControllerEntry = Extract<RuntimeEntry, { readonly kind: "controller" }>;
type ControllerType = ControllerEntry["type"];

export interface ControllersOptions {
  readonly control: () => Control;
  readonly log: Log;
  readonly maySystem: boolean;
  /** What clients of controllers have to say that were given no secret of their own; undefined: nothing. */
  readonly secretOf: (type: ControllerType) => string | undefined;
  readonly httpHosts: readonly string[];
  readonly keepFile: ControlWorld["keepFile"];
  readonly status: () => Promise<unknown>;
}

/** One that is kept, and could not be started again. */
interface Failed {
  readonly entry: ControllerEntry;
  readonly problem: string;
}

interface Listening {
  readonly type: ControllerState["type"];
  readonly address: string;
  readonly hasSecret: boolean;
  connections(): number;
  close(): Promise<void>;
}

const OF_TYPE = {
  "resp-controller": { what: "commands by RESP", option: "--resp-listen" },
  "http-controller": { what: "the HTTP API", option: "--http-listen" },
} as const;

/** Where the controllers that the options ask for will listen. */
export function controllerAddresses(control: ControlConfig | undefined): readonly LaterAddress[] {
  const asked = [
    { config: control?.resp, ...OF_TYPE["resp-controller"] },
    { config: control?.http, ...OF_TYPE["http-controller"] },
  ];
  return asked.flatMap(({ config, what, option }) =>
    config === undefined ? [] : [{ address: config.address, what, option }],
  );
}

/** The controllers of an instance: those of its options, and those that commands add. */
export class Controllers implements ControllersPort {
  readonly #options: ControllersOptions;
  readonly #listening = new Map<string, Listening>();
  readonly #failed = new Map<string, Failed>();
  #tell: (problems: readonly string[]) => void = () => undefined;
  #openConsole: (() => void) | undefined;

  constructor(options: ControllersOptions) {
    this.#options = options;
  }

  list(): readonly ControllerState[] {
    const listening = [...this.#listening].map(([name, one]) => ({
      type: one.type,
      name,
      address: one.address,
      hasSecret: one.hasSecret,
      connections: one.connections(),
    }));
    const failed = [...this.#failed].map(([name, { entry, problem }]) => ({
      type: entry.type,
      name,
      address: entry.address,
      hasSecret: entry.secretFile !== "" || this.#options.secretOf(entry.type) !== undefined,
      connections: 0,
      problem,
    }));
    return [...listening, ...failed];
  }

  /** Tells now and after each change what is kept and does not listen. */
  follow(tell: (problems: readonly string[]) => void): void {
    this.#tell = tell;
    this.#tellFailed();
  }

  /** One that the options ask for. @throws CoreError ERR_LISTEN with who has the address, ERR_REFUSED */
  async start(type: ControllerType, name: string, config: ControllerConfig): Promise<void> {
    const { option } = OF_TYPE[type];
    await this.#start(type, name, config, `choose another with ${option}, or ${option} off`);
  }

  async add({ type, name, address: text, secretFile }: ControllerEntry): Promise<void> {
    if (this.#listening.has(name) || this.#failed.has(name)) {
      throw new CoreError("ERR_KEY_TAKEN", `controller ${name} is there already`);
    }
    const address = parseListenAddress(text);
    if (address === undefined) {
      throw new CoreError(
        "ERR_USAGE",
        `address: "${text}" is not valid; expected HOST:PORT, PORT or unix:PATH`,
      );
    }
    const place = type === "resp-controller" ? "password-file" : "token-file";
    const { secretOf } = this.#options;
    const secret = secretFile === "" ? secretOf(type) : await readSecretFile(secretFile, place);
    await this.#start(type, name, { address, secret }, "give another address");
  }

  /** One that is kept from an earlier run: where it can not listen, it is told, and may be removed. */
  async restore(entry: ControllerEntry): Promise<void> {
    const { name } = entry;
    if (this.#listening.has(name)) return;
    this.#failed.delete(name);
    try {
      await this.add(entry);
    } catch (error) {
      const problem = messageOf(error);
      this.#failed.set(name, { entry, problem });
      this.#options.log.error(
        { controller: name },
        `a controller could not be started: ${problem}`,
      );
    }
    this.#tellFailed();
  }

  /** There is a terminal on which a console can be opened, now and again. */
  offerConsole(open: () => void): void {
    this.#openConsole = open;
  }

  openConsole(): boolean {
    this.#openConsole?.();
    return this.#openConsole !== undefined;
  }

  /** The console on the terminal of the instance; it is ended by `close`. */
  addConsole(close: () => Promise<void>): void {
    this.#listening.set("stdio", {
      type: "stdio-controller",
      address: "stdio",
      hasSecret: false,
      connections: () => 1,
      close,
    });
  }

  async remove(type: ControllerState["type"], name: string): Promise<void> {
    if (this.#failed.get(name)?.entry.type === type) {
      this.#failed.delete(name);
      this.#tellFailed();
      return;
    }
    const one = this.#listening.get(name);
    if (one === undefined || one.type !== type) {
      throw new CoreError("ERR_NOT_FOUND", `${type} ${name} is not there`);
    }
    this.#listening.delete(name);
    await one.close();
    this.#options.log.info({ controller: name, address: one.address }, "takes no commands there");
  }

  async closeAll(): Promise<void> {
    const all = [...this.#listening.values()];
    this.#listening.clear();
    await Promise.all(all.map((one) => one.close()));
  }

  #tellFailed(): void {
    const all = [...this.#failed.values()];
    this.#tell(all.map(({ entry, problem }) => `${entry.type} ${entry.name}: ${problem}`));
  }

  async #start(
    type: ControllerType,
    name: string,
    config: ControllerConfig,
    remedy: string,
  ): Promise<void> {
    const { what } = OF_TYPE[type];
    try {
      const started = await this.#listen(type, config);
      const address = formatListenAddress(started.address);
      this.#listening.set(name, {
        type,
        address,
        hasSecret: config.secret !== undefined,
        connections: () => started.connections(),
        close: () => started.close(),
      });
      this.#options.log.info({ controller: name, address }, `takes ${what} on ${address}`);
    } catch (error) {
      throw await explainTaken(error, config.address, { what, remedy });
    }
  }

  async #listen(
    type: ControllerType,
    { address, secret }: ControllerConfig,
  ): Promise<{
    readonly address: ListenAddress;
    connections(): number;
    close(): Promise<void>;
  }> {
    const { log, maySystem, httpHosts, keepFile, status } = this.#options;
    const control = this.#options.control();
    if (type === "resp-controller") {
      const { startRespController } = await import("../../control/resp/resp-controller.ts");
      return startRespController({ address, password: secret, control, log, maySystem });
    }
    const { startHttpController } = await import("../../control/http/http-controller.ts");
    const hosts = httpHosts;
    return startHttpController({
      address,
      token: secret,
      control,
      log,
      maySystem,
      hosts,
      keepFile,
      status,
    });
  }
}
