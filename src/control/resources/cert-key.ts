import { CoreError } from "../../core/errors.ts";
import type { ObjectOf } from "../../core/model/object.ts";
import { parseKind } from "../../core/model/parse.ts";
import { invalid, type Problem, problemsError } from "../../core/model/problems.ts";
import { checkPair } from "../../platform/tls/check-pair.ts";
import type { ActionCall } from "../resource-handler.ts";
import type { ControlWorld } from "../world.ts";
import { actionsOf } from "./actions.ts";
import type { DesiredResource } from "./desired-resource.ts";
import { type Field, list, text } from "./fields.ts";
import { keyOfName } from "./names.ts";
import { namesOf, type ObjectResource, planners, recordsOf } from "./object-resource.ts";

type Certificate = ObjectOf<"Certificate">;

const FIELDS: readonly Field<Certificate>[] = [
  list(
    {
      name: "cert",
      field: "certs",
      placeholder: "FILE",
      required: true,
      help: "PEM files of the certificate and its chain, the certificate first",
    },
    {
      get: ({ certFiles }) => certFiles,
      set: (certificate, certFiles) => ({ ...certificate, certFiles }),
    },
  ),
  text(
    {
      name: "key",
      field: "key",
      placeholder: "FILE",
      required: true,
      help: "PEM file of the private key",
    },
    {
      get: ({ keyFile }) => keyFile,
      set: (certificate, keyFile) => ({ ...certificate, keyFile }),
    },
  ),
  text(
    {
      name: "ca",
      field: "ca",
      placeholder: "FILE",
      help: "PEM file of the authorities that the certificates of peers come from",
      standard: "none",
    },
    {
      get: ({ caFile }) => caFile,
      set: (certificate, caFile) => ({ ...certificate, caFile }),
    },
  ),
];

export const CERT_KEYS: ObjectResource<"Certificate"> = {
  type: "cert-key",
  kind: "Certificate",
  fields: FIELDS,
  standard: parseKind("Certificate", { name: "-", certFiles: ["-"], keyFile: "-" }),
  isOne: () => true,
};

/** What a file has to hold. */
const CERTIFICATE = {
  name: "cert",
  mark: /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----/,
  what: "a certificate",
};
const KEY = {
  name: "key",
  mark: /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----/,
  what: "a private key",
};

/** The files must be there, hold what they should and belong together, or no listener could use them. */
async function examine({ command, params, world }: ActionCall): Promise<void> {
  const present = world.store.state().certificates.get(keyOfName(command.name));
  const certFiles = params.list("cert") ?? present?.certFiles ?? [];
  const keyFile = params.text("key") ?? present?.keyFile;
  if (keyFile === undefined) return;
  const problems: Problem[] = [];
  const certs = await Promise.all(
    certFiles.map((file) => readPem(world, file, CERTIFICATE, problems)),
  );
  const key = await readPem(world, keyFile, KEY, problems);
  if (problems.length === 0) {
    const unfit = checkPair(certs.join("\n"), key, { certFiles, keyFile });
    if (unfit !== undefined)
      problems.push(invalid(["key"], keyFile, `a pair that a listener can use (${unfit})`));
  }
  if (problems.length > 0) throw problemsError("ERR_USAGE", problems);
}

/** Its text; empty, and a problem, where it can not be used. */
async function readPem(
  world: ControlWorld,
  file: string,
  { name, mark, what }: typeof CERTIFICATE,
  problems: Problem[],
): Promise<string> {
  try {
    const pem = await world.readFile(file);
    if (mark.test(pem)) return pem;
    problems.push(invalid([name], file, `a PEM file that holds ${what}`));
  } catch (error) {
    if (!(error instanceof CoreError)) throw error;
    problems.push(invalid([name], file, `a file that can be read (${error.message})`));
  }
  return "";
}

export const CERT_KEY: DesiredResource = {
  spec: {
    name: "cert-key",
    shorts: ["ck"],
    summary: "A certificate with its private key, by the names of their files",
    section: "module",
    isSystem: false,
    scopes: [
      {
        within: [[]],
        actions: actionsOf(FIELDS, {
          one: "a certificate with its key",
          many: "certificates",
          place: "",
          example: "cert-key c0",
          add: ["add cert-key c0 cert /etc/ssl/site.pem,/etc/ssl/chain.pem key /etc/ssl/site.key"],
          update: ["update cert-key c0 cert /etc/ssl/new.pem key /etc/ssl/new.key"],
          remove: "; refused while a listener uses it",
          force:
            "listeners that name it go on with their other certificates, and serve nobody where they have none, until it is there again",
        }),
      },
    ],
  },
  plans: planners(CERT_KEYS),
  names: ({ view }) => namesOf(CERT_KEYS, view),
  records: (call) => recordsOf(CERT_KEYS, call),
  examine,
};
