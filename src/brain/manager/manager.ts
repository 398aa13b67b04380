import type { Buffer } from "node:buffer";
import { CoreError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import type { MetricFamily } from "../../core/metrics/metric-family.ts";
import type { Endpoint } from "../../core/model/endpoint.ts";
import { deepEqual } from "../../core/model/equal.ts";
import type { Node } from "../../core/model/node.ts";
import { parseKind } from "../../core/model/parse.ts";
import { groupsOf } from "../../core/model/service.ts";
import type { GlobalStore } from "../../core/store/global-store.ts";
import { AddressBook } from "../allocation/address-book.ts";
import type { AddressPlan } from "../allocation/address-plan.ts";
import type { Authority } from "../identity/authority.ts";
import { parseToken } from "../identity/join-token.ts";
import { keyHashOf } from "../identity/key-hash.ts";
import { SERVICE_KIND } from "../identity/spiffe-id.ts";
import { JoinTokens } from "./join-tokens.ts";
import type { Ledger, LedgerPlan, Pulse } from "./ledger.ts";
import { managerMetrics } from "./manager-metrics.ts";
import type {
  DeployAnswer,
  DeployRequest,
  IdentifyRequest,
  JoinAnswer,
  JoinRequest,
  NodeCredentials,
  NodeTerms,
  ReconcileAnswer,
  ReconcileRequest,
  RenewAnswer,
  RenewRequest,
  UndeployAnswer,
  UndeployRequest,
} from "./messages.ts";
import { MANAGER_OWNER } from "./owner.ts";
import { planClearance } from "./plan-clearance.ts";
import { type DeploymentContext, planDeploy, planUndeploy } from "./plan-deployment.ts";
import { Publisher } from "./publisher.ts";
import { RoundTripBook } from "./round-trip-book.ts";
import { Table } from "./table.ts";

export interface ManagerOptions {
  readonly store: GlobalStore;
  readonly ledger: Ledger;
  readonly pulse: Pulse;
  readonly authority: Authority;
  readonly plan: AddressPlan;
  /** A node that does not renew for so long is dead. */
  readonly timeoutMs: number;
  readonly certificateMs: number;
  /** `HOST:PORT` of all that nodes may ask. */
  readonly managers: () => readonly string[];
  readonly serviceCertificateMs: number;
  readonly nowMs: () => number;
  readonly randomBytes: (count: number) => Buffer;
  readonly log: Log;
}

/** Of a node: the key that it proves to be itself by. */
const KEY_ANNOTATION = "portolan/key-sha256";
/** A node renews so often within its time: two renewals may fail. */
const RENEWALS = 3;
const NO_CLEARANCE = { set: [], delete: [] } as const;

/** The brain of an edge: who belongs to it, what runs where, and which addresses that has. */
export class Manager {
  readonly tokens: JoinTokens;
  readonly table: Table;
  readonly roundTrips: RoundTripBook;
  readonly #options: ManagerOptions;
  readonly #book: AddressBook;
  readonly #publisher: Publisher;
  readonly #unfollow: () => void;
  readonly #counts = { joins: 0, renewals: 0, refusedTokens: 0 };

  /** What the ledger keeps is in the store when this is done. @throws CoreError ERR_CONFIG_INVALID */
  constructor(options: ManagerOptions) {
    const { store, ledger, pulse, plan, log } = options;
    this.#options = options;
    this.#book = new AddressBook(plan);
    this.#unfollow = this.#book.follow(store);
    this.table = new Table(store);
    this.roundTrips = new RoundTripBook(options.nowMs);
    this.tokens = new JoinTokens(options);
    this.#publisher = new Publisher(store, ledger, pulse, log);
  }

  close(): void {
    this.#unfollow();
  }

  metrics(): readonly MetricFamily[] {
    return managerMetrics(this.#counts, this.#options);
  }

  /** @throws CoreError ERR_UNAUTHORIZED, ERR_KEY_TAKEN, ERR_EXHAUSTED, ERR_STATE_INVALID */
  async join(request: JoinRequest): Promise<JoinAnswer> {
    try {
      const answer = await this.#join(request);
      this.#counts.joins += 1;
      return answer;
    } catch (error) {
      const isRefused = error instanceof CoreError && error.code === "ERR_UNAUTHORIZED";
      if (isRefused) this.#counts.refusedTokens += 1;
      throw error;
    }
  }

  /**
   * A certificate with the identity of a service, for who shows a token of it: again and again, as it is short.
   * @throws CoreError ERR_UNAUTHORIZED, ERR_STATE_INVALID
   */
  async identify({ token, service, publicKey }: IdentifyRequest): Promise<NodeCredentials> {
    const { authority, nowMs, serviceCertificateMs: lifetimeMs } = this.#options;
    try {
      this.tokens.assertFor(parseToken(token), service);
    } catch (error) {
      this.#counts.refusedTokens += 1;
      throw error;
    }
    const identity = { trustDomain: authority.trustDomain, kind: SERVICE_KIND, name: service };
    const request = { identity, publicKey, hosts: [], nowMs: nowMs(), lifetimeMs };
    const signed = await authority.sign(request);
    return { ...signed, authority: authority.certificate };
  }

  async #join(request: JoinRequest): Promise<JoinAnswer> {
    const { pulse, log } = this.#options;
    const { node: name, publicKey } = request;
    const token = parseToken(request.token);
    this.tokens.use(token);
    await this.#untilSynced();
    const credentials = await this.#sign(name, publicKey);
    const key = keyHashOf(publicKey);
    const node = await this.#changing((reserve) => {
      const secrets = this.tokens.use(token);
      const before = this.#assertFree(name, key);
      const { addresses, zone, labels, tunnel } = request;
      const after = parseKind("Node", {
        name,
        labels,
        annotations: { [KEY_ANNOTATION]: key },
        addresses,
        zone,
        subnets: before?.subnets ?? reserve.subnets(request.subnets),
        ...(tunnel && { tunnel }),
      });
      // Another key is another machine: what ran on the one before is not there.
      const isSame = before?.annotations[KEY_ANNOTATION] === key;
      const { set, delete: gone } = isSame ? NO_CLEARANCE : this.#clearanceOf(name);
      return { change: { set: [after, ...set], delete: gone, secrets }, result: after };
    });
    await pulse.welcome(name);
    log.info({ node: name, subnets: node.subnets }, "a node has joined");
    return { ...this.#termsOf(node), credentials };
  }

  /** Whether it is a node, and this its key. */
  isMember(node: string, keyHash: string): boolean {
    return this.#options.ledger.get("Node", node)?.annotations[KEY_ANNOTATION] === keyHash;
  }

  /** @throws CoreError ERR_NOT_FOUND where it has left, or never joined */
  async renew(name: string, publicKey: string, request: RenewRequest): Promise<RenewAnswer> {
    const { ledger, pulse } = this.#options;
    let node = this.#nodeOf(name);
    await pulse.renew(name);
    this.#counts.renewals += 1;
    const { addresses, zone, labels, tunnel, roundTripsMs, wantsCertificate } = request;
    if (roundTripsMs !== undefined) this.roundTrips.note(name, roundTripsMs);
    const withNews = (before: Node): Node => ({
      ...before,
      ...(addresses && { addresses }),
      ...(zone !== undefined && { zone }),
      ...(labels && { labels }),
      ...(tunnel && { tunnel }),
    });
    if (!deepEqual(withNews(node), node)) {
      node = await ledger.change(() => {
        const after = withNews(this.#nodeOf(name));
        return { change: { set: [after] }, result: after };
      });
    }
    const terms = this.#termsOf(node);
    if (!wantsCertificate) return terms;
    return { ...terms, credentials: await this.#sign(name, publicKey) };
  }

  /** The node goes with all that is on it; what it had is free again. */
  async leave(name: string): Promise<void> {
    const { pulse, log } = this.#options;
    await this.#changing(() => {
      this.#nodeOf(name);
      const { set, delete: gone } = this.#clearanceOf(name);
      return {
        change: { set, delete: [...gone, { kind: "Node", key: name }] },
        result: undefined,
      };
    });
    await pulse.forget(name);
    this.roundTrips.forget(name);
    log.info({ node: name }, "a node has left");
  }

  /** @throws CoreError ERR_NOT_FOUND, ERR_KEY_TAKEN, ERR_ADDRESS_TAKEN, ERR_EXHAUSTED */
  async deploy(node: string, request: DeployRequest): Promise<DeployAnswer> {
    await this.#untilSynced();
    return this.#changing((reservation) => {
      const context = this.#deploymentOf(request.service);
      const { zone } = this.#nodeOf(node);
      return planDeploy({ ...context, zone, reservation, book: this.#book }, node, request);
    });
  }

  /** Also where it is gone already. */
  undeploy(node: string, request: UndeployRequest): Promise<UndeployAnswer> {
    return this.#changing(() => planUndeploy(this.#deploymentOf(request.service), node, request));
  }

  /** What a node does not name is not there: one that was killed may have told of more than it wrote down. */
  async reconcile(node: string, { instances }: ReconcileRequest): Promise<ReconcileAnswer> {
    const gone = await this.#changing(() => {
      this.#nodeOf(node);
      const staying = new Set(
        instances.flatMap(({ service, instance }) =>
          this.#deploymentOf(service).instances.filter((each) => each.instance === instance),
        ),
      );
      const change = this.#clearanceOf(node, (endpoint) => staying.has(endpoint));
      return { change, result: change.delete.filter(({ kind }) => kind === "Endpoint") };
    });
    const keys = gone.map(({ key }) => key);
    if (gone.length > 0)
      this.#options.log.info({ node, gone: keys }, "a node has less than it told");
    return { gone: gone.length };
  }

  #clearanceOf(
    node: string,
    stays?: (endpoint: Endpoint) => boolean,
  ): ReturnType<typeof planClearance> {
    return planClearance(node, this.#options.ledger, this.#publisher.placements, stays);
  }

  #deploymentOf(key: string): Pick<DeploymentContext, "own" | "foreign" | "instances" | "isAlive"> {
    const { store, ledger, pulse } = this.#options;
    const own = ledger.get("Service", key);
    const owner = store.ownerOf("Service", key);
    const isForeign = owner !== undefined && owner !== MANAGER_OWNER;
    const foreign = isForeign ? store.get("Service", key) : undefined;
    const group = (foreign && groupsOf(foreign)[0]?.group) ?? key;
    return {
      own,
      foreign,
      instances: this.#publisher.placements.inGroup(group),
      isAlive: (node) => pulse.isAlive(node),
    };
  }

  /** With addresses that are set aside until it is kept. */
  async #changing<T>(
    plan: (reservation: ReturnType<AddressBook["reserve"]>) => LedgerPlan<T>,
  ): Promise<T> {
    const reservation = this.#book.reserve();
    try {
      return await this.#options.ledger.change(() => {
        reservation.release();
        return plan(reservation);
      });
    } finally {
      reservation.release();
    }
  }

  #nodeOf(name: string): Node {
    const node = this.#options.ledger.get("Node", name);
    if (node !== undefined) return node;
    throw new CoreError(
      "ERR_NOT_FOUND",
      `node ${name} is not known here; expected one that has joined and not left`,
    );
  }

  /** @returns what it was before, where it joins again */
  #assertFree(name: string, key: string): Node | undefined {
    const { store, ledger, pulse } = this.#options;
    const before = ledger.get("Node", name);
    const owner = store.ownerOf("Node", name);
    if (owner !== undefined && owner !== MANAGER_OWNER) {
      throw new CoreError(
        "ERR_KEY_TAKEN",
        `node: ${name} is a node of ${owner}; expected another name`,
      );
    }
    const isOther = before !== undefined && before.annotations[KEY_ANNOTATION] !== key;
    if (isOther && pulse.isAlive(name)) {
      throw new CoreError(
        "ERR_KEY_TAKEN",
        `node: ${name} is alive with another key; expected another name, or that node to end first`,
      );
    }
    return before;
  }

  /** With no host in it: nobody takes a node for a manager, whatever address it claims. */
  async #sign(name: string, publicKey: string): Promise<NodeCredentials> {
    const { authority, nowMs, certificateMs } = this.#options;
    const signed = await authority.sign({
      identity: { trustDomain: authority.trustDomain, kind: "node", name },
      publicKey,
      hosts: [],
      nowMs: nowMs(),
      lifetimeMs: certificateMs,
    });
    return { ...signed, authority: authority.certificate };
  }

  #termsOf({ name, subnets }: Node): NodeTerms {
    const { plan, timeoutMs, managers } = this.#options;
    return {
      node: name,
      subnets,
      serviceRanges: [...new Set(Object.values(plan.services).flat())],
      renewEveryMs: Math.max(1, Math.floor(timeoutMs / RENEWALS)),
      timeoutMs,
      managers: managers(),
    };
  }

  /** What other sources have must be known before anything is given. */
  async #untilSynced(): Promise<void> {
    const { store } = this.#options;
    while (!store.isSynced()) await store.changed();
  }
}
