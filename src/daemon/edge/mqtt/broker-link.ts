import type { IClientOptions, MqttClient } from "mqtt";
import { messageOf } from "../../../core/errors.ts";
import type { Log } from "../../../core/log.ts";
import { readTextFile } from "../../private-files.ts";
import type { MqttSettings } from "./mqtt-settings.ts";

export interface BrokerEvents {
  /** Each time that the broker is there again: it may have forgotten everything. */
  onConnected(): void;
  onMessage(topic: string, payload: Uint8Array): void;
}

const BACKOFF = { firstMs: 250, maxMs: 30_000 } as const;
const CONNECT_TIMEOUT_MS = 10_000;
const MAX_PEM_BYTES = 1 << 20;
/** At least once. */
const QOS = 1;

/** A connection to the broker of a cluster, which comes back by itself. Nothing is sent while it is away. */
export class BrokerLink {
  readonly #client: MqttClient;
  readonly #log: Log;
  /** Numbers of messages that the broker has not confirmed. */
  readonly #unsent = new Set<number>();
  #waitMs: number = BACKOFF.firstMs;
  #wasLost = false;

  /** @throws CoreError ERR_STATE_UNREADABLE, ERR_STATE_TOO_LARGE where a file of TLS can not be read */
  static async open(settings: MqttSettings, events: BrokerEvents, log: Log): Promise<BrokerLink> {
    const options = await clientOptions(settings);
    const { connect } = await import("mqtt");
    return new BrokerLink(connect(options), events, log);
  }

  private constructor(client: MqttClient, events: BrokerEvents, log: Log) {
    this.#client = client;
    this.#log = log;
    client.on("connect", () => {
      this.#waitMs = BACKOFF.firstMs;
      this.#wasLost = false;
      log.info({}, "the broker of the cluster answers");
      events.onConnected();
    });
    client.on("message", (topic, payload) => events.onMessage(topic, payload));
    client.on("error", (error) => this.#lose(messageOf(error)));
    client.on("close", () => {
      this.#lose("the connection ended");
      this.#forgetUnsent();
      // Not all nodes of a cluster at the same moment.
      client.options.reconnectPeriod = this.#waitMs * (0.5 + Math.random() / 2);
      this.#waitMs = Math.min(BACKOFF.maxMs, this.#waitMs * 2);
    });
  }

  get isConnected(): boolean {
    return this.#client.connected;
  }

  /** @returns whether it is on its way */
  publish(topic: string, message: object): boolean {
    if (!this.isConnected) return false;
    const client = this.#client;
    let id = 0;
    client.publish(topic, JSON.stringify(message), { qos: QOS }, (error) => {
      this.#unsent.delete(id);
      if (error) this.#log.debug({ topic }, `a message was not sent: ${messageOf(error)}`);
    });
    id = client.getLastMessageId();
    this.#unsent.add(id);
    return true;
  }

  /** @returns whether the broker tells of them from now on */
  async subscribe(topics: readonly string[]): Promise<boolean> {
    if (!this.isConnected) return false;
    try {
      const granted = await this.#client.subscribeAsync([...topics], { qos: QOS });
      return granted.every(({ qos }) => qos <= QOS);
    } catch (error) {
      this.#log.warn({ topics }, `the broker does not tell of these: ${messageOf(error)}`);
      return false;
    }
  }

  unsubscribe(topic: string): void {
    if (this.isConnected) this.#client.unsubscribe(topic);
  }

  async close(): Promise<void> {
    await this.#client.endAsync(!this.isConnected);
  }

  /** All is told anew when the broker is back: what was true before must not come after it. */
  #forgetUnsent(): void {
    for (const id of this.#unsent) this.#client.removeOutgoingMessage(id);
    this.#unsent.clear();
  }

  #lose(why: string): void {
    if (this.#wasLost || this.#client.disconnecting) return;
    this.#wasLost = true;
    const message = `the broker of the cluster can not be reached: ${why}; this node goes on with what it knows`;
    this.#log.warn({}, message);
  }
}

async function clientOptions(settings: MqttSettings): Promise<IClientOptions> {
  const { broker, id, tls, keepAliveSeconds } = settings;
  const read = async (path: string | undefined): Promise<string | undefined> =>
    path === undefined ? undefined : readTextFile(path, MAX_PEM_BYTES);
  const [ca, cert, key] = await Promise.all([tls?.ca, tls?.cert, tls?.key].map(read));
  const scheme = tls === undefined ? "mqtt" : "mqtts";
  return {
    ...{ protocol: scheme, host: broker.host, port: broker.port },
    ...{ clientId: id, clean: true, resubscribe: false, queueQoSZero: false },
    ...{ keepalive: keepAliveSeconds, connectTimeout: CONNECT_TIMEOUT_MS },
    reconnectPeriod: BACKOFF.firstMs,
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
  };
}
