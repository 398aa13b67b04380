import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:net";
import { FAMILIES } from "../../core/model/address.ts";
import { TOPOLOGY } from "../../core/route/scenarios/topology.ts";
import { type LoopbackPlaces, WORKLOADS } from "./loopback-places.fixture.ts";

/** What a server tells who calls it: `web-a 127.0.0.1 4711`, itself and whom it sees. */
function greeting(workload: string, address: string, port: number): string {
  return `${workload} ${address} ${port}`;
}

/** The workloads that serve, in TCP and UDP, on both families. @returns what ends them */
export async function startServers(places: LoopbackPlaces): Promise<() => void> {
  const stops: (() => void)[] = [];
  for (const workload of WORKLOADS) {
    for (const family of FAMILIES) {
      const host = places.ip(TOPOLOGY.workloads[workload].addresses[family]);
      const port = places.ports.servers[workload];
      const streams = createServer((socket) => {
        socket.on("error", () => undefined);
        socket.end(greeting(workload, socket.remoteAddress ?? "", socket.remotePort ?? 0));
      });
      streams.listen({ host, port, ipv6Only: family === "v6" });
      await once(streams, "listening");
      const datagrams = createSocket({ type: family === "v6" ? "udp6" : "udp4" });
      datagrams.on("message", (_, { address, port: from }) => {
        datagrams.send(greeting(workload, address, from), from, address);
      });
      datagrams.bind(port, host);
      await once(datagrams, "listening");
      stops.push(
        () => void streams.close(),
        () => void datagrams.close(),
      );
    }
  }
  return () => {
    for (const stop of stops) stop();
  };
}
