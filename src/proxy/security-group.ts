import type { Protocol } from "../core/model/common.ts";
import { ruleConcerns } from "../core/model/rule-concerns.ts";
import type {
  Access,
  SecurityGroup as SecurityGroupObject,
  SecurityRule,
} from "../core/model/security-group.ts";
import { NetworkTree } from "./network-tree.ts";

/**
 * A security group made ready for many questions: an answer costs a step for each bit of the address
 * at most, however many networks there are. It says what `listenerAccess` of `core/route` says.
 */
export class SecurityGroup {
  readonly #defaultAccess: Access;
  readonly #rules = new NetworkTree<SecurityRule>();

  constructor({ defaultAccess, rules }: Pick<SecurityGroupObject, "defaultAccess" | "rules">) {
    this.#defaultAccess = defaultAccess;
    for (const rule of rules) this.#rules.add(rule.network, rule);
  }

  /**
   * @param client canonical address of the client.
   * @param port the one that it has called.
   */
  allows(client: string, protocol: Protocol, port: number): boolean {
    return (this.decidingRule(client, protocol, port)?.access ?? this.#defaultAccess) === "allow";
  }

  /** The rule with the longest network of those for client, protocol and port, then the first. */
  decidingRule(client: string, protocol: Protocol, port: number): SecurityRule | undefined {
    return this.#rules.find(client, (rule) => ruleConcerns(rule, protocol, port));
  }
}
