import { CoreError } from "../../core/errors.ts";
import type { ObjectOf } from "../../core/model/object.ts";
import { parseKind } from "../../core/model/parse.ts";
import { invalid, type Problem, problemsError } from "../../core/model/problems.ts";
import type { ActionCall } from "../resource-handler.ts";
import type { ControlWorld } from "../world.ts";
import { actionsOf } from "./actions.ts";
import type { DesiredResource } from "./desired-resource.ts";
import { type Field, list, text } from "./fields.ts";
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
];

export const CERT_KEYS: ObjectResource<"Certificate"> = {
  type: "cert-key",
  kind: "Certificate",
  fields: FIELDS,
  standard: parseKind("Certificate", { name: "-", certFiles: ["-"], keyFile: "-" }),
  isOne: () => true,
};

/** The files must be there and hold what they should, or no listener could use them. */
async function examine({ params, world }: ActionCall): Promise<void> {
  const wanted: [string, string, RegExp][] = (params.list("cert") ?? []).map((file) => [
    "cert",
    file,
    /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----/,
  ]);
  const key = params.text("key");
  if (key !== undefined) wanted.push(["key", key, /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----/]);
  const found = await Promise.all(
    wanted.map(([name, file, mark]) => examineFile(world, name, file, mark)),
  );
  const problems = found.filter((problem) => problem !== undefined);
  if (problems.length > 0) throw problemsError("ERR_USAGE", problems);
}

async function examineFile(
  world: ControlWorld,
  name: string,
  file: string,
  mark: RegExp,
): Promise<Problem | undefined> {
  const what = name === "key" ? "a private key" : "a certificate";
  try {
    const pem = await world.readFile(file);
    return mark.test(pem) ? undefined : invalid([name], file, `a PEM file that holds ${what}`);
  } catch (error) {
    if (!(error instanceof CoreError)) throw error;
    return invalid([name], file, `a file that can be read (${error.message})`);
  }
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
