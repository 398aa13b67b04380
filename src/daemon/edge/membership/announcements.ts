import * as z from "zod";
import { CoreError, messageOf } from "../../../core/errors.ts";
import type { Log } from "../../../core/log.ts";
import { ipSchema } from "../../../core/model/common.ts";
import { Turns } from "../../../core/turns.ts";
import type { TableRow } from "../../../edge/environment/route-table.ts";
import type { ServiceIp } from "../../../edge/environment/workload.ts";
import { POLICY_OF, serviceIpsOf } from "../../../edge/overlay/merge-services.ts";
import { serviceKey } from "../../../edge/overlay/service-key.ts";
import { isUnreachable, type ManagerLink } from "./manager-link.ts";

type InstanceName = Pick<TableRow, "appName" | "instanceNumber">;

const deployedSchema = z.object({
  edgeIPs: z.array(
    z.object({
      address: ipSchema,
      policy: z.enum(["round-robin", "closest", "instance"]),
      instance: z.number(),
    }),
  ),
});

/** What becomes of what a manager is told. */
export interface AnnouncementEvents {
  readonly log: Log;
  /** What the manager knows has changed. */
  readonly onTold: () => void;
  /** It refuses an instance that runs here, for another reason than before. */
  readonly onRefused?: (instance: InstanceName, reason: string) => void;
  /** It takes one that it refused. */
  readonly onAccepted?: (instance: InstanceName) => void;
}

/** What a manager shall know of the instances that run here, and what it does know. */
export class Announcements {
  readonly #link: Pick<ManagerLink, "call">;
  readonly #log: Log;
  readonly #events: AnnouncementEvents;
  readonly #turns = new Turns();
  readonly #wanted = new Map<string, { readonly row: TableRow; readonly ready: boolean }>();
  /** The requests that the manager answered; empty where it may know something else by now. */
  readonly #told = new Map<string, string>();
  /** What the log has of those that the manager was not told of: it is tried again and again. */
  readonly #complaints = new Map<string, string>();
  /** Those of them that the manager refuses, and why. */
  readonly #refused = new Map<string, string>();

  /** @param announced what an earlier process told */
  constructor(
    link: Pick<ManagerLink, "call">,
    announced: readonly string[],
    events: AnnouncementEvents,
  ) {
    this.#link = link;
    this.#log = events.log;
    this.#events = events;
    for (const id of announced) this.#told.set(id, "");
  }

  /** Of instances, `default/web#0`. */
  get announced(): readonly string[] {
    return [...this.#told.keys()];
  }

  /** Before it runs. Where the manager does not answer now, it is told later. */
  async announce(row: TableRow): Promise<readonly ServiceIp[]> {
    const id = idOf(row);
    const before = this.#wanted.get(id);
    this.#wanted.set(id, { row, ready: before?.ready ?? false });
    try {
      return await this.#turns.take(() => this.#deploy(id));
    } catch (error) {
      if (!isUnreachable(error)) {
        if (before === undefined) this.#wanted.delete(id);
        else this.#wanted.set(id, before);
        throw error;
      }
      this.#log.warn({ instance: id }, `the manager is told later: ${messageOf(error)}`);
      return row.serviceIps;
    }
  }

  async withdraw(row: InstanceName): Promise<void> {
    this.#wanted.delete(idOf(row));
    this.#complaints.delete(idOf(row));
    this.#refused.delete(idOf(row));
    await this.sync();
  }

  /** All that runs here; what was announced and is not among it is not ready. */
  setLocal(rows: readonly TableRow[]): void {
    const running = new Map(rows.map((row) => [idOf(row), row]));
    for (const [id, { row }] of this.#wanted) {
      this.#wanted.set(id, { row: running.get(id) ?? row, ready: running.has(id) });
    }
    for (const [id, row] of running) {
      if (!this.#wanted.has(id)) this.#wanted.set(id, { row, ready: true });
    }
    void this.sync();
  }

  /** The manager may have forgotten what it was told. */
  doubt(): void {
    for (const id of this.#told.keys()) this.#told.set(id, "");
  }

  /**
   * Tells all that there is at once. Who was killed after it had told something, and before that was written down,
   * has it at the manager for ever otherwise.
   */
  reconcile(): Promise<void> {
    return this.#turns.take(async () => {
      const instances = [...this.#wanted.values()].map(({ row }) => ({
        service: serviceKey(row.appName),
        instance: row.instanceNumber,
      }));
      try {
        await this.#link.call("Reconcile", { instances });
      } catch (error) {
        // A manager of an older version does not know it.
        if (!(error instanceof CoreError && error.code === "ERR_API_REFUSED")) throw error;
        this.#log.debug({ err: error }, "the manager does not take all that runs here at once");
        return;
      }
      for (const id of this.#told.keys()) if (!this.#wanted.has(id)) this.#told.delete(id);
      this.#events.onTold();
    });
  }

  /** Tells what the manager does not know yet. What fails is tried again by the next one. */
  sync(): Promise<void> {
    return this.#turns.take(async () => {
      const gone = [...this.#told.keys()].filter((id) => !this.#wanted.has(id));
      const news = [...this.#wanted.keys()].filter(
        (id) => this.#told.get(id) !== this.#request(id),
      );
      for (const id of [...gone, ...news]) {
        try {
          if (this.#wanted.has(id)) await this.#deploy(id);
          else await this.#undeploy(id);
          this.#complaints.delete(id);
        } catch (error) {
          this.#complain(id, messageOf(error));
          if (isUnreachable(error)) return;
          this.#noteRefused(id, messageOf(error));
        }
      }
    });
  }

  #complain(instance: string, why: string): void {
    if (this.#complaints.get(instance) === why) return;
    this.#complaints.set(instance, why);
    this.#log.warn({ instance }, `the manager could not be told: ${why}; it is tried again`);
  }

  #noteRefused(id: string, why: string): void {
    const wanted = this.#wanted.get(id);
    if (wanted === undefined || this.#refused.get(id) === why) return;
    this.#refused.set(id, why);
    this.#events.onRefused?.(wanted.row, why);
  }

  #request(id: string): string | undefined {
    const wanted = this.#wanted.get(id);
    return wanted && JSON.stringify(requestOf(wanted.row, wanted.ready));
  }

  async #deploy(id: string): Promise<readonly ServiceIp[]> {
    const wanted = this.#wanted.get(id);
    if (wanted === undefined) return [];
    const request = requestOf(wanted.row, wanted.ready);
    const { edgeIPs } = deployedSchema.parse(await this.#link.call("Deploy", request));
    this.#told.set(id, JSON.stringify(request));
    this.#events.onTold();
    if (this.#refused.delete(id)) this.#events.onAccepted?.(wanted.row);
    return serviceIpsOf(edgeIPs, wanted.row.instanceNumber);
  }

  async #undeploy(id: string): Promise<void> {
    const [service = "", instance] = id.split("#");
    await this.#link.call("Undeploy", { service, instance: Number(instance) });
    this.#told.delete(id);
    this.#events.onTold();
  }
}

function idOf({ appName, instanceNumber }: InstanceName): string {
  return `${serviceKey(appName)}#${instanceNumber}`;
}

function requestOf(row: TableRow, ready: boolean): object {
  const ports = (row.ports ?? []).map(({ protocol, port }) => ({
    name: `${protocol}-${port}`,
    protocol: protocol.toUpperCase(),
    port,
  }));
  return {
    service: serviceKey(row.appName),
    instance: row.instanceNumber,
    addresses: [row.nsAddress, row.nsAddressv6],
    ...(ports.length > 0 && { ports }),
    ready,
    edgeIPs: row.serviceIps.map(({ type, address }) => ({ address, policy: POLICY_OF[type] })),
  };
}
