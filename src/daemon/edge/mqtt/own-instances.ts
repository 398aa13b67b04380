import type { TableRow } from "../../../edge/environment/route-table.ts";
import { workloadName } from "../../../edge/environment/workload.ts";
import {
  addressChangedMessage,
  deployedMessage,
  type OwnInstance,
  undeployedMessage,
} from "../../../wire/mqtt-edge/cluster-messages.ts";
import { isJobName, type NodeTopics } from "../../../wire/mqtt-edge/cluster-topics.ts";

/** Whether it is on its way. */
export type Publish = (topic: string, message: object) => boolean;

/** What runs here, and what of it the cluster was told. */
export class OwnInstances {
  readonly #topics: NodeTopics;
  readonly #publish: Publish;
  readonly #told = new Map<string, OwnInstance>();
  #wanted: ReadonlyMap<string, OwnInstance> = new Map();

  constructor(topics: NodeTopics, publish: Publish) {
    this.#topics = topics;
    this.#publish = publish;
  }

  hasJob(jobName: string): boolean {
    return [...this.#wanted.values()].some((instance) => instance.jobName === jobName);
  }

  /**
   * All that runs here; one whose node has no address yet is told when it has.
   * @returns the jobs of those that did not run here before
   */
  set(rows: readonly TableRow[]): ReadonlySet<string> {
    const before = this.#wanted;
    this.#wanted = new Map(
      rows.flatMap((row) => {
        const { appName: jobName, instanceNumber: number, nodeIp: hostIp, nodePort } = row;
        if (hostIp === undefined || !isJobName(jobName)) return [];
        const { nsAddress: nsip, nsAddressv6: nsipv6 } = row;
        const instance = { jobName, number, nsip, nsipv6, hostIp, hostPort: nodePort };
        return [[workloadName(jobName, number), instance]];
      }),
    );
    this.tell();
    const fresh = [...this.#wanted].filter(([name]) => !before.has(name));
    return new Set(fresh.map(([, { jobName }]) => jobName));
  }

  /** The cluster may have forgotten what it was told. */
  doubt(): void {
    for (const name of this.#wanted.keys()) this.#told.delete(name);
  }

  /** Tells what the cluster does not know yet. */
  tell(): void {
    const { deployed, undeployed, addressChanged } = this.#topics;
    for (const [name, instance] of this.#told) {
      if (this.#wanted.has(name)) continue;
      if (this.#publish(undeployed, undeployedMessage(instance))) this.#told.delete(name);
    }
    for (const [name, instance] of this.#wanted) {
      const before = this.#told.get(name);
      const isSame = before?.nsip === instance.nsip && before.nsipv6 === instance.nsipv6;
      if (isSame && before.hostIp === instance.hostIp && before.hostPort === instance.hostPort) {
        continue;
      }
      const isSent = isSame
        ? this.#publish(addressChanged, addressChangedMessage(instance))
        : this.#publish(deployed, deployedMessage(instance));
      if (isSent) this.#told.set(name, instance);
    }
  }
}
