import type { CoreError } from "../../../core/errors.ts";
import { type HostPort, parseHostPort } from "../../../core/model/address.ts";
import { invalid, problemsError } from "../../../core/model/problems.ts";
import type { ValuesOf } from "../../../core/options/option-spec.ts";
import { NODE_ID } from "../../../wire/mqtt-edge/cluster-topics.ts";

/** What `edge node` takes for a cluster that speaks MQTT. */
export const EDGE_MQTT_OPTIONS = {
  mqtt: {
    kind: "string",
    placeholder: "HOST:PORT",
    help: "serve in the cluster whose MQTT broker is there; its nodes are spoken to in mode compat",
  },
  mqttId: {
    kind: "string",
    placeholder: "ID",
    help: "what that cluster calls this node; --node when not given",
  },
  mqttTls: {
    kind: "boolean",
    help: "speak TLS with the broker, with the authorities of this machine where none are given",
  },
  mqttTlsCa: {
    kind: "string",
    placeholder: "FILE",
    help: "authorities (PEM) that the certificate of the broker must come from",
  },
  mqttTlsCert: {
    kind: "string",
    placeholder: "FILE",
    help: "certificate (PEM) that this node shows to the broker",
  },
  mqttTlsKey: { kind: "string", placeholder: "FILE", help: "its private key (PEM)" },
  mqttKeepAlive: {
    kind: "duration",
    default: "5s",
    help: "how often the broker hears of this node, and when a broker that is silent counts as gone",
  },
  mqttIdle: {
    kind: "duration",
    default: "1m",
    help: "services that nothing here uses for so long are not followed any more",
  },
} as const;

type MqttValues = ValuesOf<typeof EDGE_MQTT_OPTIONS>;

/** How a node serves in a cluster that speaks MQTT. */
export interface MqttSettings {
  readonly broker: HostPort;
  readonly id: string;
  /** Files; undefined: no TLS. */
  readonly tls:
    | {
        readonly ca: string | undefined;
        readonly cert: string | undefined;
        readonly key: string | undefined;
      }
    | undefined;
  readonly keepAliveSeconds: number;
  readonly idleMs: number;
}

const MAX_KEEP_ALIVE_SECONDS = 65_535;

/** @param node what the node is called here. @throws CoreError ERR_USAGE with the option */
export function resolveMqtt(values: MqttValues, node: string): MqttSettings | undefined {
  const { mqtt, mqttId: id = node, mqttTlsCa: ca, mqttTlsCert: cert, mqttTlsKey: key } = values;
  if (mqtt === undefined) {
    const others = [values.mqttId, ca, cert, key];
    if (values.mqttTls || others.some((value) => value !== undefined)) {
      throw refuse("--mqtt", undefined, "HOST:PORT of a broker, as other options of it are given");
    }
    return undefined;
  }
  const broker = parseHostPort(mqtt);
  if (broker === undefined) throw refuse("--mqtt", mqtt, "HOST:PORT, such as 192.0.2.1:10003");
  if (!NODE_ID.test(id)) {
    throw refuse("--mqtt-id", id, "1 to 128 letters, digits, dots, colons, - and _");
  }
  if ((cert === undefined) !== (key === undefined)) {
    throw refuse("--mqtt-tls-cert", cert, "both a certificate and --mqtt-tls-key, or neither");
  }
  const isTls = values.mqttTls || ca !== undefined || cert !== undefined;
  return {
    ...{ broker, id, tls: isTls ? { ca, cert, key } : undefined, idleMs: values.mqttIdle },
    keepAliveSeconds: keepAliveOf(values.mqttKeepAlive),
  };
}

function keepAliveOf(ms: number): number {
  const seconds = Math.ceil(ms / 1000);
  if (seconds >= 1 && seconds <= MAX_KEEP_ALIVE_SECONDS) return seconds;
  throw refuse("--mqtt-keep-alive", `${ms} ms`, `from 1s to ${MAX_KEEP_ALIVE_SECONDS}s`);
}

function refuse(option: string, value: string | undefined, expected: string): CoreError {
  return problemsError("ERR_USAGE", [invalid([option], value, expected)]);
}
