import { type IncomingHttpHeaders, request } from "node:http";
import { connect, type Socket } from "node:net";
import { expect, onTestFinished } from "vitest";
import type { Log } from "../../core/log.ts";
import type { Control } from "../control.ts";
import { MemoryWorld } from "../control-world.fixture.ts";
import { createControl } from "../create-control.ts";
import {
  type HttpController,
  type HttpControllerOptions,
  startHttpController,
} from "./http-controller.ts";

export interface LogLine {
  readonly level: keyof Log;
  readonly fields: object;
  readonly message: string;
}

export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Undefined where the body is no JSON. */
  readonly json: unknown;
}

export interface Asked {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A controller on loopback for one test, and a client that may send any header. */
export class TestController {
  readonly controller: HttpController;
  readonly log: readonly LogLine[];

  constructor(controller: HttpController, log: readonly LogLine[]) {
    this.controller = controller;
    this.log = log;
  }

  get port(): number {
    const { address } = this.controller;
    return address.kind === "tcp" ? address.port : 0;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  ask(method: string, path: string, { body, headers = {} }: Asked = {}): Promise<Answered> {
    const isText = typeof body === "string" || Buffer.isBuffer(body);
    const bytes = body === undefined || isText ? body : JSON.stringify(body);
    const length = Buffer.byteLength(bytes ?? "");
    const type =
      body === undefined ? {} : { "content-type": "application/json", "content-length": length };
    return new Promise((resolve, reject) => {
      const sent = request(
        { port: this.port, host: "127.0.0.1", method, path, headers: { ...type, ...headers } },
        (response) => {
          let text = "";
          response.setEncoding("utf8");
          response.on("data", (chunk: string) => {
            text += chunk;
          });
          response.on("error", reject);
          response.on("end", () => {
            const { statusCode: status = 0 } = response;
            resolve({ status, headers: response.headers, text, json: parseJson(text) });
          });
        },
      );
      sent.on("error", reject);
      sent.end(bytes);
    });
  }

  /** A connection that says nothing by itself; closed after the test. */
  async open(): Promise<Socket> {
    const socket = connect(this.port, "127.0.0.1");
    socket.on("error", () => undefined);
    onTestFinished(() => {
      socket.destroy();
    });
    await new Promise((resolve) => socket.once("connect", resolve));
    return socket;
  }
}

export const LOOPBACK = { kind: "tcp", host: "127.0.0.1", port: 0 } as const;

/** Closed after the test. */
export async function startTestController(
  control: Control,
  options: Partial<HttpControllerOptions> = {},
): Promise<TestController> {
  const lines: LogLine[] = [];
  const controller = await startHttpController({
    address: LOOPBACK,
    control,
    log: collectInto(lines),
    maySystem: false,
    ...options,
  });
  onTestFinished(() => controller.close());
  return new TestController(controller, lines);
}

export interface MemoryController {
  readonly http: TestController;
  readonly world: MemoryWorld;
  readonly control: Control;
}

/** With all commands, over an instance in memory. */
export async function startMemoryController(
  options: Partial<HttpControllerOptions> = {},
): Promise<MemoryController> {
  const world = new MemoryWorld();
  const control = createControl(world);
  return { http: await startTestController(control, options), world, control };
}

/** The same with a listener that leads to a group of two servers. */
export async function startWithListener(): Promise<MemoryController> {
  const started = await startMemoryController();
  const post = async (path: string, body: object): Promise<void> => {
    const { status, text } = await started.http.ask("POST", `/api/v1/module/${path}`, { body });
    expect(status, text).toBe(201);
  };
  await post("upstream", { name: "u0" });
  await post("server-group", { name: "g0", timeout: 500, period: 1000, up: 2, down: 3 });
  await post("server-group/g0/server", { name: "s1", address: "10.0.0.1:80", weight: 10 });
  await post("server-group/g0/server", { name: "s2", address: "10.0.0.2:80", weight: 5 });
  await post("upstream/u0/server-group", { name: "g0", weight: 7 });
  await post("tcp-lb", { name: "lb0", address: "127.0.0.1:8080", backend: "u0", protocol: "http" });
  return started;
}

export function collectInto(lines: LogLine[]): Log {
  const at =
    (level: keyof Log) =>
    (fields: object, message: string): void => {
      lines.push({ level, fields, message });
    };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** All that comes until the connection ends. */
export async function readAll(socket: Socket): Promise<string> {
  let text = "";
  socket.setEncoding("latin1");
  for await (const chunk of socket) text += String(chunk);
  return text;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
