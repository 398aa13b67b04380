import { connect } from "node:net";
import { MqttClient } from "mqtt";
import { onTestFinished } from "vitest";
import * as z from "zod";
import type { Mosquitto } from "./mosquitto.ts";

/** What a node tells of an instance. */
interface Reported {
  readonly appname: string;
  readonly instance_number: number;
  readonly nsip?: string | undefined;
  readonly nsipv6?: string | undefined;
  readonly host_ip?: string | undefined;
  readonly host_port?: string | undefined;
}

const deployedSchema: z.ZodType<Reported> = z.object({
  appname: z.string(),
  instance_number: z.number(),
  nsip: z.string().optional(),
  nsipv6: z.string().optional(),
  host_ip: z.string().optional(),
  host_port: z.string().optional(),
});
const querySchema = z.object({ sname: z.string(), sip: z.string() });

interface Job {
  readonly rr: string;
  /** What means each instance, by its number: the manager gives it before it runs. */
  readonly instanceIps: readonly string[];
  readonly running: Map<number, Reported>;
}

/** A stand-in of a cluster's service manager: it keeps what nodes tell, and answers them, over MQTT. */
export class MqttCluster {
  /** Every message of nodes: `worker1 service/deployed {...}`. */
  readonly heard: string[] = [];
  readonly #client: MqttClient;
  readonly #jobs = new Map<string, Job>();
  #subnets = 0;

  static async start(broker: Mosquitto): Promise<MqttCluster> {
    const options = { clientId: "cluster", reconnectPeriod: 100, keepalive: 5 };
    const client = new MqttClient(() => connect(broker.socketPath), options);
    const cluster = new MqttCluster(client);
    await new Promise<void>((resolve) => {
      client.once("connect", () => resolve());
    });
    return cluster;
  }

  private constructor(client: MqttClient) {
    this.#client = client;
    client.on("connect", () => client.subscribe("nodes/+/net/#", { qos: 1 }));
    client.on("error", () => undefined);
    client.on("message", (topic, payload) => this.#take(topic, payload.toString()));
    onTestFinished(() => client.endAsync(true));
  }

  addJob(name: string, rr: string, instanceIps: readonly string[]): void {
    this.#jobs.set(name, { rr, instanceIps, running: new Map() });
  }

  /** Somebody reports an instance, as a node does. */
  deploy(told: Reported): void {
    this.#keep(JSON.stringify(told));
  }

  /** What the orchestrator does: the instance leaves the table, and who is interested is told. */
  undeploy(name: string, number: number): void {
    this.#jobs.get(name)?.running.delete(number);
    this.#tell(name, "UNDEPLOYMENT");
  }

  count(pattern: RegExp): number {
    return this.heard.filter((line) => pattern.test(line)).length;
  }

  #take(topic: string, text: string): void {
    const [, id = "", , ...rest] = topic.split("/");
    const what = rest.join("/");
    const answer = (name: string, message: object): void => {
      this.#client.publish(`nodes/${id}/net/${name}`, JSON.stringify(message), { qos: 1 });
    };
    if (what.endsWith("/result")) return;
    this.heard.push(`${id} ${what} ${text}`);
    if (what === "subnet") {
      this.#subnets += 64;
      answer("subnetwork/result", { address: `10.18.0.${this.#subnets}`, addressv6: "" });
    }
    if (what === "service/deployed" || what === "service/address-changed") this.#keep(text);
    if (what === "tablequery/request") answer("tablequery/result", this.#answer(text));
  }

  /** By the whole name of the job, as managers look it up. */
  #keep(text: string): void {
    const told = deployedSchema.parse(JSON.parse(text));
    const { running } = this.#jobs.get(told.appname) ?? {};
    const before = running?.get(told.instance_number);
    running?.set(told.instance_number, { ...before, ...told });
    if (running !== undefined) this.#tell(told.appname, "DEPLOYMENT");
  }

  #answer(text: string): object {
    const { sname, sip } = querySchema.parse(JSON.parse(text));
    const found = [...this.#jobs].find(
      ([name, { rr, instanceIps }]) => name === sname || rr === sip || instanceIps.includes(sip),
    );
    const query_key = sname || sip;
    if (found === undefined) return { app_name: "", query_key, instance_list: [] };
    const [app_name, { rr, instanceIps, running }] = found;
    const instance_list = [...running].map(([instance_number, told]) => ({
      ...{ instance_number, namespace_ip: told.nsip, namespace_ip_v6: told.nsipv6 },
      ...{ host_ip: told.host_ip, host_port: Number(told.host_port) },
      service_ip: [
        { IpType: "RR", Address: rr, Address_v6: "" },
        { IpType: "instance_ip", Address: instanceIps[instance_number], Address_v6: "" },
      ],
    }));
    return { app_name, query_key, instance_list };
  }

  #tell(name: string, type: string): void {
    this.#client.publish(`jobs/${name}/updates_available`, JSON.stringify({ type }), { qos: 1 });
  }
}
