import type { ResourceHandler } from "../resource-handler.ts";
import { notFound } from "../resources/refusals.ts";

/** The only one: it looks up the names of servers. */
const NAME = "(default)";

export const RESOLVER_RESOURCE: ResourceHandler = {
  spec: {
    name: "resolver",
    shorts: [],
    summary: "What looks up the names of servers; there is one",
    section: "none",
    isSystem: false,
    scopes: [
      {
        within: [[]],
        actions: {
          list: { help: "Shows its name", params: [], examples: ["list resolver"] },
        },
      },
    ],
  },
  actions: { list: () => ({ kind: "names", names: [NAME] }) },
};

/** @throws CoreError ERR_NOT_FOUND */
export function assertResolver(name: string): void {
  if (name !== NAME) throw notFound("resolver", name, [NAME]);
}
