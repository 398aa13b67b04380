import { messageOf } from "../../../core/errors.ts";
import type { Log } from "../../../core/log.ts";
import { invalid, problemsError } from "../../../core/model/problems.ts";
import type { TableRow } from "../../../edge/environment/route-table.ts";
import type { ServiceIp } from "../../../edge/environment/workload.ts";
import type { Directory } from "../../../edge/overlay/directory.ts";
import { nameOfKey } from "../../../edge/overlay/service-key.ts";
import {
  type ClusterInstance,
  readTableAnswer,
  type TableAnswer,
} from "../../../wire/mqtt-edge/cluster-messages.ts";
import {
  isJobName,
  jobOfTopic,
  type NodeTopics,
  updatesTopic,
} from "../../../wire/mqtt-edge/cluster-topics.ts";
import { OwnInstances, type Publish } from "./own-instances.ts";
import { TableQueries } from "./table-queries.ts";

/** What of a broker a member needs. */
export interface ClusterBroker {
  readonly publish: Publish;
  subscribe(topics: readonly string[]): Promise<boolean>;
  unsubscribe(topic: string): void;
}

export interface ClusterMemberOptions {
  readonly topics: NodeTopics;
  readonly broker: ClusterBroker;
  readonly idleMs: number;
  /** Keys of the services that flows lead to; undefined where there are too many to tell. */
  readonly servicesInUse: () => Promise<ReadonlySet<string> | undefined>;
  /** All that is known of jobs, whenever it changes. */
  readonly onJobs: (jobs: readonly (readonly [string, readonly ClusterInstance[]])[]) => void;
  readonly log: Log;
}

interface Followed {
  usedMs: number;
  instances: readonly ClusterInstance[];
  /** What is known may not be true any more. */
  isStale: boolean;
  isAsking: boolean;
  isSubscribed: boolean;
}

const TICK_MS = 1000;
/** More jobs are not followed; the longest unused makes room. */
const MAX_FOLLOWED = 4096;

/** A node as the service manager of a cluster sees it over MQTT: it says what runs here, and follows what is used. */
export class ClusterMember implements Directory {
  readonly #options: ClusterMemberOptions;
  readonly #queries: TableQueries;
  readonly #own: OwnInstances;
  readonly #followed = new Map<string, Followed>();
  readonly #ticks: NodeJS.Timeout;
  #lookedMs = performance.now();

  constructor(options: ClusterMemberOptions) {
    const { topics, broker } = options;
    this.#options = options;
    this.#queries = new TableQueries((message) => broker.publish(topics.tableQuery, message));
    this.#own = new OwnInstances(topics, (topic, message) => broker.publish(topic, message));
    this.#ticks = setInterval(() => this.#tick(), TICK_MS);
  }

  close(): void {
    clearInterval(this.#ticks);
    this.#queries.close();
  }

  /** The broker is there, perhaps again: it is told everything, and asked for all that is followed. */
  onConnected(): void {
    this.#own.doubt();
    this.#own.tell();
    for (const [job, followed] of this.#followed) {
      followed.isSubscribed = false;
      void this.#refresh(job, followed);
    }
  }

  onMessage(topic: string, payload: Uint8Array): void {
    if (topic === this.#options.topics.tableResult) this.#onAnswer(payload);
    const job = jobOfTopic(topic);
    const followed = job === undefined ? undefined : this.#followed.get(job);
    if (job !== undefined && followed !== undefined) void this.#refresh(job, followed);
  }

  /** The cluster says itself which addresses it has, once it is told that it runs. */
  async announce({ appName, serviceIps }: TableRow): Promise<readonly ServiceIp[]> {
    if (isJobName(appName)) return serviceIps;
    const expected = "the name of a job of the cluster: four parts of letters and digits, a.b.c.d";
    throw problemsError("ERR_USAGE", [invalid(["appName"], appName, expected)]);
  }

  /** `setLocal` tells it. */
  async withdraw(): Promise<void> {}

  setLocal(rows: readonly TableRow[]): void {
    // The addresses of those that are new are the cluster's to say.
    for (const job of this.#own.set(rows)) {
      void this.#refresh(job, this.#followed.get(job) ?? this.#add(job));
    }
    this.follow(rows.map(({ appName }) => appName));
  }

  follow(services: readonly string[]): void {
    for (const job of services.filter(isJobName)) {
      const there = this.#followed.get(job);
      if (there !== undefined) there.usedMs = performance.now();
      else void this.#refresh(job, this.#add(job));
    }
  }

  /** Names of jobs are asked for as they are written: those with capital letters are not found by names in lower case. */
  async followNames(names: readonly string[]): Promise<readonly string[]> {
    const answers = await Promise.all(
      names.filter(isJobName).map((name) => this.#queries.ask("name", name)),
    );
    const found = answers.flatMap((answer) => (answer?.instances.length ? [answer] : []));
    for (const answer of found) this.#follow(answer);
    return found.map(({ jobName }) => jobName);
  }

  async followAddress(address: string): Promise<boolean> {
    const answer = await this.#queries.ask("address", address);
    if (answer === undefined || answer.jobName === "") return false;
    this.#follow(answer);
    return answer.instances.some(({ serviceIps }) =>
      serviceIps.some((one) => one.address === address),
    );
  }

  /** What was answered may have changed before this node was told of changes: so it is asked again then. */
  #follow(answer: TableAnswer): void {
    const { jobName: job, instances } = answer;
    const there = this.#followed.get(job);
    const followed = there ?? this.#add(job);
    followed.usedMs = performance.now();
    followed.instances = instances;
    this.#tell();
    if (there === undefined) void this.#refresh(job, followed);
  }

  #add(job: string): Followed {
    const flags = { isStale: true, isAsking: false, isSubscribed: false };
    const followed = { usedMs: performance.now(), instances: [], ...flags };
    this.#followed.set(job, followed);
    const others = [...this.#followed].filter(([name]) => name !== job && !this.#own.hasJob(name));
    if (this.#followed.size > MAX_FOLLOWED) {
      others.sort(([, a], [, b]) => a.usedMs - b.usedMs);
      for (const [name] of others.slice(0, 1)) this.#drop(name);
    }
    return followed;
  }

  /** Asks until what is known is as new as the last thing that was told; what fails is tried again by a tick. */
  async #refresh(job: string, followed: Followed): Promise<void> {
    followed.isStale = true;
    if (followed.isAsking) return;
    followed.isAsking = true;
    try {
      while (followed.isStale && this.#followed.get(job) === followed) {
        followed.isSubscribed ||= await this.#options.broker.subscribe([updatesTopic(job)]);
        if (!followed.isSubscribed) return;
        followed.isStale = false;
        const answer = await this.#queries.ask("name", job, true);
        if (answer === undefined) {
          followed.isStale = true;
          return;
        }
        followed.instances = answer.instances;
        this.#tell();
      }
    } finally {
      followed.isAsking = false;
    }
  }

  #onAnswer(payload: Uint8Array): void {
    try {
      this.#queries.take(readTableAnswer(payload));
    } catch (error) {
      const message = `an answer of the cluster is not understood: ${messageOf(error)}`;
      this.#options.log.warn({ err: error }, message);
    }
  }

  #tell(): void {
    this.#options.onJobs([...this.#followed].map(([job, { instances }]) => [job, instances]));
  }

  #tick(): void {
    this.#own.tell();
    for (const [job, followed] of this.#followed) {
      if (followed.isStale && !followed.isAsking) void this.#refresh(job, followed);
    }
    const { idleMs, log } = this.#options;
    if (performance.now() - this.#lookedMs < idleMs / 2) return;
    this.#lookedMs = performance.now();
    this.#dropIdle().catch((err: unknown) => log.debug({ err }, "what is used is not known"));
  }

  async #dropIdle(): Promise<void> {
    const keys = await this.#options.servicesInUse();
    if (keys === undefined) return;
    const used = new Set([...keys].map(nameOfKey));
    const nowMs = performance.now();
    let isChanged = false;
    for (const [job, followed] of this.#followed) {
      if (used.has(job) || this.#own.hasJob(job)) followed.usedMs = nowMs;
      if (nowMs - followed.usedMs < this.#options.idleMs) continue;
      this.#drop(job);
      isChanged = true;
    }
    if (isChanged) this.#tell();
  }

  #drop(job: string): void {
    const { broker, topics } = this.#options;
    this.#followed.delete(job);
    broker.unsubscribe(updatesTopic(job));
    broker.publish(topics.interestRemoved, { appname: job });
  }
}
