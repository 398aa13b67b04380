import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import {
  createNamedNamespace,
  namedNamespacePath,
  removeNamedNamespace,
} from "../../src/platform/linux/named-namespace.ts";
import { removeNamespaceResolvers } from "../../src/platform/linux/namespace-resolvers.ts";
import { NetworkNamespace } from "../../src/platform/linux/network-namespace.ts";
import { type CliProcess, type CliResult, runCli, startCli } from "../support/cli.ts";
import { curl } from "./curl.ts";

export const NODE_IP = { v4: "192.0.2.1", v6: "2001:db8::1" } as const;
export const OUTSIDE_IP = { v4: "192.0.2.2", v6: "2001:db8::2" } as const;

/** Where a machine is, and who stands beside it. */
export interface EdgePlace {
  readonly node: { readonly v4: string; readonly v6: string };
  readonly outside: { readonly v4: string; readonly v6: string };
  /** Missing: a neighbour of its own. */
  readonly neighbour?: NetworkNamespace;
  /** Name of the neighbour's link. */
  readonly down: string;
  /** Further lines for `ip`. */
  readonly hostLines: readonly string[];
  readonly outsideLines: readonly string[];
}

const ALONE: EdgePlace = {
  node: NODE_IP,
  outside: OUTSIDE_IP,
  down: "down0",
  hostLines: [],
  // Somebody who knows where the workloads are, and tries.
  outsideLines: [`route add 10.18.0.64/26 via ${NODE_IP.v4}`],
};

function linesOf(link: string, { v4, v6 }: EdgePlace["node"]): readonly string[] {
  return [
    "link set lo up",
    `address add ${v4}/24 dev ${link}`,
    `address add ${v6}/64 dev ${link} nodad`,
    `link set ${link} up`,
  ];
}

export interface RestAnswer {
  readonly status: number;
  readonly body: unknown;
}

let stages = 0;

/** A machine as a network namespace, with a neighbour, on which the built edge node runs. Needs root. */
export class EdgeStage {
  readonly host: NetworkNamespace = NetworkNamespace.create();
  readonly outside: NetworkNamespace;
  readonly folder: string = mkdtempSync(join(tmpdir(), "portolan-edge-"));
  readonly #prefix: string;
  readonly #names: string[] = [];
  readonly #open: (() => void)[] = [];

  /** Ends with the test. */
  constructor(place: EdgePlace = ALONE) {
    stages += 1;
    this.outside = place.neighbour ?? NetworkNamespace.create();
    if (place.neighbour === undefined) this.#open.push(() => this.outside.close());
    this.#prefix = `ptest${process.pid}-${stages}-`;
    onTestFinished(() => this.#close());
    this.exec(this.host, "ip", [
      ...["link", "add", "up0", "type", "veth", "peer", "name", place.down],
      ...["netns", this.outside.path],
    ]);
    this.#ip(this.host, [...linesOf("up0", place.node), ...place.hostLines]);
    this.#ip(this.outside, [...linesOf(place.down, place.outside), ...place.outsideLines]);
  }

  /** `netns:NAME` for a deployment, of a namespace that goes with the test. */
  containerId(name: string): string {
    const whole = this.nameOf(name);
    this.#names.push(whole);
    return `netns:${whole}`;
  }

  /** What `ip netns` calls a namespace of this stage. */
  nameOf(name: string): string {
    return `${this.#prefix}${name}`;
  }

  /** The same, of one that somebody else has made. */
  madeByOthers(name: string): string {
    const containerId = this.containerId(name);
    createNamedNamespace(containerId.replace("netns:", ""));
    return containerId;
  }

  /** The namespace of such a deployment. */
  inside(containerId: string): NetworkNamespace {
    const namespace = NetworkNamespace.open(namedNamespacePath(containerId.replace("netns:", "")));
    this.#open.push(() => namespace.close());
    return namespace;
  }

  async start(...args: readonly string[]): Promise<CliProcess> {
    return this.#startNode("node", ...args);
  }

  /** Has it join a manager. */
  async join(manager: string, ...args: readonly string[]): Promise<CliProcess> {
    return this.#startNode("join", manager, ...args);
  }

  async #startNode(verb: string, ...args: readonly string[]): Promise<CliProcess> {
    const all = ["edge", verb, ...args, "--state", this.folder, "--listen", "off"];
    const cli = this.host.run(() => startCli(all));
    await cli.waitFor(/REST API on/);
    return cli;
  }

  /** Another command on that machine, to its end. */
  cli(...args: readonly string[]): Promise<CliResult> {
    return this.host.run(() => runCli(args));
  }

  async rest(path: string, body?: unknown): Promise<RestAnswer> {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const method = body === undefined ? "GET" : "POST";
      const headers = { "content-type": "application/json" };
      const socketPath = join(this.folder, "edge.sock");
      // A connection for each call: none is kept, to be counted among what the node has open.
      const options = { socketPath, path, method, headers, agent: false };
      const sent = request(options, (response) => {
        let read = "";
        response.setEncoding("utf8").on("data", (chunk: string) => {
          read += chunk;
        });
        response.on("end", () => {
          resolve({ status: response.statusCode ?? 0, body: JSON.parse(read) });
        });
      });
      sent.on("error", reject);
      sent.end(text);
    });
  }

  /** Answers everyone who calls there with a name and who called. */
  serve(namespace: NetworkNamespace, port: number, name: string): void {
    const server = createServer((call, response) => {
      response.end(`${name} ${call.socket.remoteAddress?.replace("::ffff:", "")}`);
    });
    namespace.run(() => server.listen(port));
    this.#open.push(() => {
      server.closeAllConnections();
      server.close();
    });
  }

  /** Sends the first half of an answer at once, and the second when `release` is called. */
  serveHalves(
    namespace: NetworkNamespace,
    port: number,
  ): { asked: Promise<void>; release(): void } {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const asked = new Promise<void>((resolve) => {
      const server = createServer((_, response) => {
        response.write("first ");
        resolve();
        void released.then(() => response.end("second"));
      });
      namespace.run(() => server.listen(port));
      this.#open.push(() => {
        server.closeAllConnections();
        server.close();
      });
    });
    return { asked, release };
  }

  /** Answers every request with these bytes. */
  serveBytes(namespace: NetworkNamespace, port: number, bytes: Uint8Array): void {
    const server = createServer((_, response) => response.end(bytes));
    namespace.run(() => server.listen(port));
    this.#open.push(() => {
      server.closeAllConnections();
      server.close();
    });
  }

  /** What curl gets there; its complaint where it fails. */
  curl(namespace: NetworkNamespace, url: string, seconds?: number): Promise<string> {
    return curl(namespace, url, seconds);
  }

  exec(namespace: NetworkNamespace, program: string, args: readonly string[]): string {
    return namespace.run(() => execFileSync(program, args, { encoding: "utf8", stdio: "pipe" }));
  }

  /** Everything in the kernel that the node could leave behind; not whether a bridge has a carrier. */
  traces(): string {
    const names = execFileSync("ip", ["netns", "list"], { encoding: "utf8" });
    const texts = [
      this.exec(this.host, "ip", ["-br", "address"]).replaceAll(
        / (UP|DOWN|UNKNOWN|fe80:\S+) */g,
        " ",
      ),
      this.exec(this.host, "ip", ["route"]),
      this.exec(this.host, "ip", ["-6", "route"]).replaceAll(/^fe80:.*\n/gm, ""),
      this.exec(this.host, "nft", ["list", "ruleset"]),
    ];
    // The tunnel's device goes with its process, and comes back with another number and address.
    const lines = texts
      .flatMap((text) => text.replaceAll(/ linkdown| +$/gm, "").split("\n"))
      .filter((line) => !line.startsWith("portolan-tun "));
    // Others make namespaces on the same machine meanwhile.
    const own = names.split("\n").filter((line) => line.startsWith(this.#prefix));
    return [...lines, ...own.map((line) => line.replace(/ \(id: \d+\)/, ""))].join("\n");
  }

  #ip(namespace: NetworkNamespace, lines: readonly string[]): void {
    namespace.run(() => execFileSync("ip", ["-batch", "-"], { input: lines.join("\n") }));
  }

  #close(): void {
    for (const close of this.#open) close();
    for (const name of this.#names) {
      removeNamespaceResolvers(name);
      removeNamedNamespace(name);
    }
    this.host.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
