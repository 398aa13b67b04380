import { setTimeout as wait } from "node:timers/promises";
import { CoreError, messageOf } from "../../../core/errors.ts";
import type { Log } from "../../../core/log.ts";
import type { Cidr } from "../../../core/model/address.ts";
import type { EnvironmentManager } from "../../../edge/environment/environment-manager.ts";
import { machineFamilies } from "../../../edge/environment/machine-families.ts";
import type { Overlay } from "../../../edge/overlay/overlay.ts";
import { readRegister } from "../../../edge/rest/requests.ts";
import { readSubnetAnswer, SUBNET_REQUEST } from "../../../wire/mqtt-edge/cluster-messages.ts";
import { nodeTopics } from "../../../wire/mqtt-edge/cluster-topics.ts";
import { followNetworks } from "../membership/follow-networks.ts";
import { ToldList } from "../membership/told-list.ts";
import { BrokerLink } from "./broker-link.ts";
import { ClusterMember } from "./cluster-member.ts";
import { viewOfCluster } from "./cluster-view.ts";
import type { MqttSettings } from "./mqtt-settings.ts";

export interface ClusterParts {
  readonly node: string;
  readonly overlay: Overlay;
  readonly environment: EnvironmentManager;
  readonly serviceRanges: readonly Cidr[];
  readonly log: Log;
}

/** A start waits so long for the networks of this node; after that they come when they come. */
const FIRST_WAIT_MS = 10_000;
const ASK_AGAIN_MS = 5000;
const LEFT_OUT = "nodes of the cluster can not be reached from here";

/**
 * Has a node serve in a cluster that speaks MQTT. A node that has networks keeps them; another one asks for
 * them.
 * @throws CoreError what the files of TLS are refused with, and the networks that the cluster gives
 */
export async function joinCluster(
  settings: MqttSettings,
  parts: ClusterParts,
): Promise<{ close(): Promise<void> }> {
  const { node, overlay, environment, serviceRanges, log } = parts;
  const topics = nodeTopics(settings.id);
  const networks = followNetworks(environment, log);
  const registration = new Registration(environment, log);
  const families = machineFamilies();
  const leftOut = new ToldList(log, "leftOut", LEFT_OUT);
  const askForSubnet = (): void => {
    if (environment.plan === undefined) link.publish(topics.subnet, SUBNET_REQUEST);
  };
  const onConnected = async (): Promise<void> => {
    if (!(await link.subscribe([topics.subnetResult, topics.tableResult]))) return;
    askForSubnet();
    member.onConnected();
  };
  const link = await BrokerLink.open(
    settings,
    {
      onConnected: () => void onConnected(),
      onMessage: (topic, payload) => {
        if (topic === topics.subnetResult) registration.take(payload);
        else member.onMessage(topic, payload);
      },
    },
    log,
  );
  const member = new ClusterMember({
    topics,
    broker: link,
    idleMs: settings.idleMs,
    servicesInUse: () => overlay.servicesInUse(),
    onJobs: (jobs) => {
      const { v4, v6 } = environment.plan?.subnets ?? {};
      const subnets = [v4, v6].flatMap((subnet) => subnet ?? []);
      const place = { ip: environment.nodeIp, port: environment.nodePort };
      const own = { node, ...place, subnets, serviceRanges, families };
      const view = viewOfCluster(jobs, own);
      leftOut.tell(view.leftOut);
      overlay.setRemote(view);
      networks(view);
    },
    log,
  });
  overlay.setDirectory(member);
  const asking = setInterval(askForSubnet, ASK_AGAIN_MS);
  const close = async (): Promise<void> => {
    clearInterval(asking);
    member.close();
    await link.close();
  };
  try {
    await registration.first();
  } catch (error) {
    await close();
    throw error;
  }
  return { close };
}

/** Gives a node the networks that its cluster says. */
class Registration {
  readonly #environment: EnvironmentManager;
  readonly #log: Log;
  readonly #first: Promise<void>;
  #settle: (error?: Error) => void = () => undefined;

  constructor(environment: EnvironmentManager, log: Log) {
    this.#environment = environment;
    this.#log = log;
    this.#first = new Promise((resolve, reject) => {
      this.#settle = (error) => (error === undefined ? resolve() : reject(error));
    });
    // Where nobody waits any more, the log says it.
    this.#first.catch(() => undefined);
  }

  take(payload: Uint8Array): void {
    if (this.#environment.plan !== undefined) return;
    this.#register(payload).then(
      () => this.#settle(),
      (cause: unknown) => {
        const message = `the networks that the cluster gives are not taken: ${messageOf(cause)}`;
        this.#log.error({ err: cause }, message);
        this.#settle(new CoreError("ERR_CONFIG_INVALID", message, { cause }));
      },
    );
  }

  /** Settles at once where the node has networks already. */
  async first(): Promise<void> {
    if (this.#environment.plan !== undefined) return;
    const end = new AbortController();
    const late = wait(FIRST_WAIT_MS, undefined, { signal: end.signal }).catch(() => undefined);
    try {
      await Promise.race([this.#first, late]);
    } finally {
      end.abort();
    }
    if (this.#environment.plan !== undefined) return;
    this.#log.warn({}, "the cluster has not said yet which networks this node has; it is asked on");
  }

  async #register(payload: Uint8Array): Promise<void> {
    const { address, addressv6 } = readSubnetAnswer(payload);
    await this.#environment.register(
      readRegister({ subnetwork: address, subnetworkv6: addressv6 }),
    );
  }
}
