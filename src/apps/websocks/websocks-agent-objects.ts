import { CoreError } from "../../core/errors.ts";
import { canonicalIp, formatHostPort } from "../../core/model/address.ts";
import { type Endpoint, endpointSchema } from "../../core/model/endpoint.ts";
import { groupSchema } from "../../core/model/group.ts";
import { listenerSchema } from "../../core/model/listener.ts";
import type { ModelObject } from "../../core/model/object.ts";
import { serviceSchema } from "../../core/model/service.ts";
import {
  parseWebsocksUrl,
  WAY_WORDS,
  WEBSOCKS_URL_FORM,
  type WebsocksUrl,
  withoutPassword,
} from "../../core/model/websocks.ts";
import { listenPlace } from "../../core/options/listen-place.ts";
import type { ValuesOf } from "../../core/options/option-spec.ts";
import { checkRules } from "./check-rules.ts";
import { passwordPlace } from "./password-place.ts";
import type { WEBSOCKS_AGENT_OPTIONS } from "./websocks-agent-options.ts";

export type WebsocksAgentValues = ValuesOf<typeof WEBSOCKS_AGENT_OPTIONS>;

const NAME = "websocks-agent";
/**
 * A server that is gone is noticed by those who call it, too; one that is back should be used soon. TCP, and
 * then as far as to the answer to an upgrade: that takes some round trips.
 */
const CHECK = { protocol: "tcp", intervalMs: 2000, timeoutMs: 5000, up: 1, down: 2 } as const;

/**
 * The state that `websocks agent` runs with: a listener, and a service whose servers are those of the tunnel.
 * @throws CoreError ERR_USAGE with all problems
 */
export function websocksAgentObjects(
  values: WebsocksAgentValues,
  environment: Readonly<Record<string, string | undefined>>,
): readonly ModelObject[] {
  const problems: string[] = [];
  const at = listenPlace(values.listen, problems);
  const urls = parseUrls(values.server, problems);
  const passwordFile = passwordPlace(values.passwordFile, environment, problems);
  checkRules("--rule", values.rule, WAY_WORDS, problems);
  if (values.ca !== undefined && !urls.some(({ isSecure }) => isSecure)) {
    problems.push("--ca: expected a --server with wss:// with it");
  }
  if (at === undefined || problems.length > 0) {
    throw new CoreError("ERR_USAGE", problems.join("\n"));
  }
  return [
    serviceSchema.parse({
      kind: "Service",
      name: NAME,
      type: "Plain",
      ports: [{ port: at.port || 1, protocol: "TCP" }],
    }),
    groupSchema.parse({ kind: "Group", name: NAME, healthCheck: CHECK }),
    listenerSchema.parse({
      kind: "Listener",
      name: NAME,
      ...at,
      service: `default/${NAME}`,
      mode: "websocks-agent",
      websocksAgent: {
        servers: values.server,
        passwordFile,
        caFile: values.ca ?? "",
        rules: values.rule,
        poolSize: values.pool,
      },
    }),
    ...urls.map(endpointOf),
  ];
}

function parseUrls(texts: readonly string[], problems: string[]): readonly WebsocksUrl[] {
  const urls = new Map<string, WebsocksUrl>();
  for (const text of texts) {
    const url = parseWebsocksUrl(text);
    const shown = withoutPassword(text);
    if (url === undefined) {
      problems.push(`--server: "${shown}" is not valid; expected ${WEBSOCKS_URL_FORM}`);
    } else if (urls.has(nameOf(url))) {
      problems.push(`--server: "${shown}" is given twice; expected each HOST:PORT once`);
    } else urls.set(nameOf(url), url);
  }
  if (texts.length === 0) problems.push(`--server: missing; expected ${WEBSOCKS_URL_FORM}`);
  return [...urls.values()];
}

function endpointOf(url: WebsocksUrl): Endpoint {
  const ip = canonicalIp(url.host);
  return endpointSchema.parse({
    kind: "Endpoint",
    name: nameOf(url),
    group: NAME,
    ...(ip === undefined ? { hostName: url.host } : { addresses: [ip] }),
    ports: [{ port: url.port }],
  });
}

function nameOf({ host, port }: WebsocksUrl): string {
  return formatHostPort(host, port);
}
