import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { CoreError } from "../../../core/errors.ts";
import type { ListenAddress } from "../../../core/options/listen-address.ts";
import type { Http2ClientTls } from "../../../platform/http2/connect-http2.ts";
import { parseToken } from "../../identity/join-token.ts";
import type { JoinAnswer, JoinRequest, NodeCredentials } from "../messages.ts";
import { fetchAuthority } from "./fetch-authority.ts";
import { ManagerClient } from "./manager-client.ts";
import { keepFile, publicKeyIn } from "./member-files.ts";

/** Who may look for a private key. */
const OWNER_ONLY_FOLDER = 0o700;

const credentialsSchema: z.ZodType<NodeCredentials> = z.object({
  certificate: z.string(),
  authority: z.string(),
  expiresMs: z.number(),
});

const joinAnswerSchema: z.ZodType<JoinAnswer> = z.object({
  node: z.string(),
  subnets: z.array(z.string()),
  serviceRanges: z.array(z.string()),
  renewEveryMs: z.number(),
  timeoutMs: z.number(),
  managers: z.array(z.string()).default([]),
  credentials: credentialsSchema,
});

const renewedSchema = z.object({ credentials: credentialsSchema });

/** The files in a folder that make a node a member; `--api-client-tls-...` takes them as well. */
export function membershipFiles(folder: string): Required<Http2ClientTls> & {
  readonly certFile: string;
  readonly keyFile: string;
  readonly caFile: string;
} {
  return {
    certFile: join(folder, "node.pem"),
    keyFile: join(folder, "node-key.pem"),
    caFile: join(folder, "authority.pem"),
  };
}

/**
 * Joins with a token: makes a key, which never leaves the folder, and keeps there what the manager gives.
 * @throws CoreError ERR_UNAUTHORIZED, ERR_API_UNREACHABLE, ERR_STATE_INVALID, ERR_STATE_UNREADABLE, ERR_KEY_TAKEN, ERR_EXHAUSTED
 */
export async function joinManager(
  address: ListenAddress,
  folder: string,
  request: Omit<JoinRequest, "publicKey">,
): Promise<JoinAnswer> {
  const { pin } = parseToken(request.token);
  const { keyFile, caFile } = membershipFiles(folder);
  await mkdir(folder, { recursive: true, mode: OWNER_ONLY_FOLDER });
  const authority = await fetchAuthority(address, pin);
  const publicKey = await publicKeyIn(keyFile);
  await keepFile(caFile, authority);
  const client = await ManagerClient.connect({ address, tls: { caFile } });
  try {
    const answer = joinAnswerSchema.safeParse(await client.call("Join", { ...request, publicKey }));
    if (!answer.success) {
      throw new CoreError("ERR_API_PROTOCOL", "the manager answers wrongly: no terms of a node");
    }
    await keepCredentials(folder, answer.data.credentials);
    return answer.data;
  } finally {
    client.close();
  }
}

/**
 * Renews the certificate of a node that has joined; who connects from now on shows the new one.
 * @returns when that one ends
 * @throws CoreError as the calls of the client do
 */
export async function renewCertificate(address: ListenAddress, folder: string): Promise<number> {
  const client = await ManagerClient.connect({ address, tls: membershipFiles(folder) });
  try {
    const answer = renewedSchema.safeParse(await client.call("Renew", { wantsCertificate: true }));
    if (!answer.success) {
      throw new CoreError("ERR_API_PROTOCOL", "the manager answers wrongly: no certificate");
    }
    const { credentials } = answer.data;
    await keepCredentials(folder, credentials);
    return credentials.expiresMs;
  } finally {
    client.close();
  }
}

async function keepCredentials(
  folder: string,
  { certificate, authority }: NodeCredentials,
): Promise<void> {
  const { certFile, caFile } = membershipFiles(folder);
  await keepFile(caFile, authority);
  await keepFile(certFile, certificate);
}
