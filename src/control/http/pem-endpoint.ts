import { createHash } from "node:crypto";
import { invalid, problemsError } from "../../core/model/problems.ts";
import type { ParamInput } from "../command.ts";
import type { Control } from "../control.ts";
import type { ControlWorld, KeptFile } from "../world.ts";
import { type Answer, createdAnswer, doneAnswer } from "./answer.ts";
import type { ApiRequest } from "./api-request.ts";
import { type PemUpload, readPemUpload } from "./pem-upload.ts";
import { API_PREFIX } from "./resource-routes.ts";

export type KeepFile = ControlWorld["keepFile"];

export type PemAction = "add" | "update";

const HASH_LENGTH = 12;
const MAX_STEM = 64;

/** Adds or changes a `cert-key` whose files come with the request. */
export async function answerPem(
  control: Control,
  action: PemAction,
  keepFile: KeepFile,
  request: ApiRequest,
): Promise<Answer> {
  const upload = readPemUpload(await request.readBody());
  const name = nameOf(upload, request.names.get("cert-key"));
  const files = await keepPem(name, upload, keepFile);
  const params = new Map<string, ParamInput>([
    ["cert", [files.cert.path]],
    ["key", files.key.path],
  ]);
  const command = { kind: "resource", action, type: "cert-key", name, within: [], params } as const;
  const result = await control.run(command, request.caller, request.condition).finally(async () => {
    await Promise.all([files.cert.release(), files.key.release()]);
  });
  const note = result.kind === "done" ? result.note : "";
  if (action === "update") return doneAnswer(note);
  return createdAnswer(`${API_PREFIX}/module/cert-key/${encodeURIComponent(name)}`, name, note);
}

function nameOf(upload: PemUpload, pathName: string | undefined): string {
  const name = pathName ?? upload.name;
  if (name === "") {
    throw problemsError("ERR_USAGE", [invalid(["name"], undefined, "a name that is not empty")]);
  }
  if (upload.name === "" || upload.name === name) return name;
  const expected = `${JSON.stringify(name)}, as in the path`;
  throw problemsError("ERR_USAGE", [invalid(["name"], upload.name, expected)]);
}

/** Keeps both files under names of their own contents, so that none that is in use is overwritten. */
async function keepPem(
  name: string,
  { cert, key }: PemUpload,
  keepFile: KeepFile,
): Promise<Readonly<Record<"cert" | "key", KeptFile>>> {
  const hash = createHash("sha256").update(cert).update(key).digest("hex").slice(0, HASH_LENGTH);
  const stem = `${name.replaceAll(/[^\w-]/g, "_").slice(0, MAX_STEM)}-${hash}`;
  const kept = await keepFile(`${stem}.cert.pem`, cert);
  try {
    return { cert: kept, key: await keepFile(`${stem}.key.pem`, key) };
  } catch (error) {
    await kept.release();
    throw error;
  }
}
