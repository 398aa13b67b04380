import { ENGINE_HANDLERS } from "../engine-resources/table.ts";
import type { ResourceHandler } from "../resource-handler.ts";
import type { ResourceName } from "../resource-names.ts";
import type { ResourceSpec } from "../resource-spec.ts";
import { CERT_KEY } from "./cert-key.ts";
import { CONTROLLER_HANDLERS } from "./controllers.ts";
import { DELEGATE_HANDLERS } from "./delegates.ts";
import { type DesiredResource, handlerOf } from "./desired-resource.ts";
import { DNS_SERVER } from "./dns-server.ts";
import { ENDPOINT } from "./endpoint.ts";
import { SECURITY_GROUP } from "./security-group.ts";
import { SECURITY_GROUP_RULE } from "./security-group-rule.ts";
import { SERVER } from "./server.ts";
import { SERVER_GROUP } from "./server-group.ts";
import { SERVICE } from "./service.ts";
import { SOCKS5_SERVER } from "./socks5-server.ts";
import { TCP_LB } from "./tcp-lb.ts";
import { UDP_LB } from "./udp-lb.ts";
import { UPSTREAM } from "./upstream.ts";

/** The resources that are objects of the store. */
export const DESIRED_RESOURCES: readonly DesiredResource[] = [
  TCP_LB,
  UDP_LB,
  SOCKS5_SERVER,
  DNS_SERVER,
  UPSTREAM,
  SERVER_GROUP,
  SERVER,
  SECURITY_GROUP,
  SECURITY_GROUP_RULE,
  CERT_KEY,
  SERVICE,
  ENDPOINT,
];

/** The resource of that name, where it is objects of the store. */
export function desiredOf(type: ResourceName): DesiredResource | undefined {
  return DESIRED_RESOURCES.find(({ spec }) => spec.name === type);
}

/** All that commands can do. */
export const HANDLERS: readonly ResourceHandler[] = [
  ...DESIRED_RESOURCES.map(handlerOf),
  ...DELEGATE_HANDLERS,
  ...ENGINE_HANDLERS,
  ...CONTROLLER_HANDLERS,
];

/** The table of commands: manuals, completion, checks and OpenAPI come from it. */
export const RESOURCES: readonly ResourceSpec[] = HANDLERS.map(({ spec }) => spec);
