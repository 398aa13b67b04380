import { CoreError } from "../../core/errors.ts";
import { certificateSchema } from "../../core/model/certificate.ts";
import { listenerSchema } from "../../core/model/listener.ts";
import { keyOf, type ModelObject } from "../../core/model/object.ts";
import { serviceSchema } from "../../core/model/service.ts";
import { ACCESS_WORDS } from "../../core/model/websocks.ts";
import { listenPlace } from "../../core/options/listen-place.ts";
import type { ValuesOf } from "../../core/options/option-spec.ts";
import { checkRules } from "./check-rules.ts";
import { passwordPlace } from "./password-place.ts";
import type { WEBSOCKS_SERVER_OPTIONS } from "./websocks-server-options.ts";

export type WebsocksServerValues = ValuesOf<typeof WEBSOCKS_SERVER_OPTIONS>;

const NAME = "websocks-server";
const USER = /^[^:\p{Cc}]+$/u;

/**
 * The state that `websocks server` runs with: a listener, and a service that has no servers of its own.
 * @throws CoreError ERR_USAGE with all problems
 */
export function websocksServerObjects(
  values: WebsocksServerValues,
  environment: Readonly<Record<string, string | undefined>>,
): readonly ModelObject[] {
  const problems: string[] = [];
  const at = listenPlace(values.listen, problems);
  const { user, usersFile, target, webRoot, tlsCert, tlsKey } = values;
  checkUsers(values, problems);
  const passwordFile =
    user === undefined ? "" : passwordPlace(values.passwordFile, environment, problems);
  checkRules("--target", target, ACCESS_WORDS, problems);
  if (tlsKey.length !== tlsCert.length) {
    problems.push(
      `--tls-key: given ${tlsKey.length} times; expected as often as --tls-cert (${tlsCert.length})`,
    );
  }
  if (at === undefined || problems.length > 0) {
    throw new CoreError("ERR_USAGE", problems.join("\n"));
  }
  const certificates = tlsCert.map((file, index) =>
    certificateSchema.parse({
      kind: "Certificate",
      name: `${NAME}-${index + 1}`,
      certFiles: [file],
      keyFile: tlsKey[index],
    }),
  );
  return [
    serviceSchema.parse({
      kind: "Service",
      name: NAME,
      type: "Plain",
      ports: [{ port: at.port || 1, protocol: "TCP" }],
    }),
    listenerSchema.parse({
      kind: "Listener",
      name: NAME,
      ...at,
      service: `default/${NAME}`,
      mode: "websocks",
      usersFile: usersFile ?? "",
      websocks: { user: user ?? "", passwordFile, targets: target, webRoot: webRoot ?? "" },
      ...(certificates.length > 0 && { tls: { certificates: certificates.map(keyOf) } }),
    }),
    ...certificates,
  ];
}

function checkUsers(
  { user, usersFile, passwordFile }: WebsocksServerValues,
  problems: string[],
): void {
  if (user === undefined && usersFile === undefined) {
    problems.push("--user: missing; expected it, or --users-file: nobody could come in");
  }
  if (user !== undefined && !USER.test(user)) {
    problems.push(`--user: "${user}" is not valid; expected a name without colons`);
  }
  if (user === undefined && passwordFile !== undefined) {
    problems.push("--password-file: expected --user with it");
  }
}
