import { messageOf } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import { formatHostPort } from "../../core/model/address.ts";
import { type HealthAnswer, healthAnswer } from "./health-answer.ts";
import type { HealthServer } from "./health-server.ts";
import type { HealthPlan } from "./plan-health-checks.ts";

export type StartHealthServer = (
  ip: string,
  port: number,
  answer: () => HealthAnswer,
) => Promise<HealthServer>;

export interface HealthPortsOptions {
  readonly startServer: StartHealthServer;
  readonly isProxyHealthy: () => boolean;
  readonly log: Log;
}

/** The sockets of all health-check node ports. One that can not be had keeps none of the others away. */
export class HealthPorts {
  readonly #options: HealthPortsOptions;
  readonly #servers = new Map<string, HealthServer>();
  #failed: ReadonlyMap<string, string> = new Map();
  #plan: HealthPlan;

  constructor(plan: HealthPlan, options: HealthPortsOptions) {
    this.#plan = plan;
    this.#options = options;
  }

  /** What could not be listened on, in words. */
  failures(): readonly string[] {
    return [...this.#failed.values()];
  }

  count(): number {
    return this.#servers.size;
  }

  /** Closes and opens sockets until they are those of the plan, and tries again those that failed. */
  async follow(plan: HealthPlan): Promise<void> {
    this.#plan = plan;
    const wanted = new Map<string, { readonly ip: string; readonly port: number }>();
    for (const ip of plan.addresses) {
      for (const port of plan.checks.keys()) wanted.set(formatHostPort(ip, port), { ip, port });
    }
    for (const [where, server] of this.#servers) {
      if (wanted.has(where)) continue;
      this.#servers.delete(where);
      await server.close();
    }
    const failed = new Map<string, string>();
    for (const [where, { ip, port }] of wanted) {
      if (this.#servers.has(where)) continue;
      const failure = await this.#open(where, ip, port);
      if (failure !== undefined) failed.set(where, failure);
    }
    this.#tell(failed);
  }

  async #open(where: string, ip: string, port: number): Promise<string | undefined> {
    try {
      this.#servers.set(where, await this.#options.startServer(ip, port, () => this.#answer(port)));
      return undefined;
    } catch (error) {
      const service = this.#plan.checks.get(port)?.service;
      const reason = messageOf(error);
      return `Service ${service}: health-check node port: ${reason}`;
    }
  }

  #answer(port: number): HealthAnswer {
    const nobody = { service: "", namespace: "", name: "", port, localEndpoints: 0 };
    const check = this.#plan.checks.get(port) ?? nobody;
    return healthAnswer(check, this.#options.isProxyHealthy());
  }

  #tell(failed: ReadonlyMap<string, string>): void {
    for (const [where, message] of failed) {
      if (!this.#failed.has(where)) this.#options.log.warn({ backend: "healthchecks" }, message);
    }
    this.#failed = failed;
  }
}
