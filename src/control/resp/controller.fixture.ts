import { onTestFinished } from "vitest";
import type { Log } from "../../core/log.ts";
import { TinyControl } from "../tiny-control.fixture.ts";
import { RawClient } from "./raw-client.fixture.ts";
import {
  type RespController,
  type RespControllerOptions,
  startRespController,
} from "./resp-controller.ts";

export interface TestController {
  readonly control: TinyControl;
  readonly controller: RespController;
  /** `warn: message`. */
  readonly logged: string[];
  readonly port: number;
  open(): Promise<RawClient>;
}

/** A controller on a free port of loopback, until the test has finished. */
export async function startTestController(
  options: Partial<RespControllerOptions> = {},
): Promise<TestController> {
  const control = new TinyControl();
  const logged: string[] = [];
  const at = (level: keyof Log) => (_: object, message: string) => {
    logged.push(`${level}: ${message}`);
  };
  const controller = await startRespController({
    address: { kind: "tcp", host: "127.0.0.1", port: 0 },
    control,
    log: { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") },
    maySystem: false,
    ...options,
  });
  onTestFinished(() => controller.close());
  const { address } = controller;
  const port = address.kind === "tcp" ? address.port : 0;
  return { control, controller, logged, port, open: () => RawClient.open(address) };
}
