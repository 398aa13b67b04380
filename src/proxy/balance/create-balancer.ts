import type { BalancingMethod } from "../../core/model/group.ts";
import type { Balancer } from "./balancer.ts";
import { LeastConnections } from "./least-connections.ts";
import { LeastLatency } from "./least-latency.ts";
import { RandomChoice } from "./random-choice.ts";
import { RoundRobin } from "./round-robin.ts";
import { SourceHash } from "./source-hash.ts";

/**
 * The balancer for a method. Plain round-robin honours weights too: with equal ones both are the same.
 * @param random from 0 to 1, 1 excluded.
 */
export function createBalancer(method: BalancingMethod, random: () => number): Balancer {
  switch (method) {
    case "random":
      return new RandomChoice(random);
    case "round-robin":
    case "weighted-round-robin":
      return new RoundRobin(random);
    case "least-connections":
      return new LeastConnections(random);
    case "source-hash":
      return new SourceHash();
    case "least-latency":
      return new LeastLatency(random);
  }
}
