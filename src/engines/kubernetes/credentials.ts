import { readFile } from "node:fs/promises";
import { CoreError, messageOf } from "../../core/errors.ts";
import type { Pem } from "./kube-connection.ts";

/** What a request shows of who it is from. */
export interface Credentials {
  /** The header `authorization`. */
  readonly authorization?: string;
  /** PEM of a client certificate and its key. */
  readonly cert?: string;
  readonly key?: string;
}

/** Where credentials come from; they are asked for before each request, as they may change. */
export interface CredentialSource {
  /** @throws CoreError ERR_CONFIG_INVALID where they can not be had */
  read(): Promise<Credentials>;
  /** The server refused what was read last: it is not to be given again where there may be newer. */
  refused(): void;
}

/** What a kubeconfig or a pod says of who is calling, apart from programs that give credentials. */
export interface PlainCredentials {
  readonly token?: string;
  /** Wins over `token`; it is rotated by others. */
  readonly tokenFile?: string;
  readonly basic?: { readonly username: string; readonly password: string };
  readonly certificate?: { readonly cert: Pem; readonly key: Pem };
}

/** Files are read for each request: there are few of those, and files are rotated. */
export function createPlainCredentials(plain: PlainCredentials): CredentialSource {
  return {
    read: async () => {
      const authorization = await authorizationOf(plain);
      const { certificate } = plain;
      if (certificate === undefined) return authorization;
      const [cert, key] = await Promise.all([readPem(certificate.cert), readPem(certificate.key)]);
      return { ...authorization, cert, key };
    },
    refused: () => undefined,
  };
}

export async function readPem(pem: Pem): Promise<string> {
  return pem.kind === "text" ? pem.text : readText(pem.path);
}

export function bearer(token: string): Credentials {
  // A token of a file often ends with a line break, which no header may have.
  const text = token.trim();
  return text === "" ? {} : { authorization: `Bearer ${text}` };
}

async function authorizationOf({
  token,
  tokenFile,
  basic,
}: PlainCredentials): Promise<Credentials> {
  if (tokenFile !== undefined) return bearer(await readText(tokenFile));
  if (token !== undefined) return bearer(token);
  if (basic === undefined) return {};
  const pair = Buffer.from(`${basic.username}:${basic.password}`).toString("base64");
  return { authorization: `Basic ${pair}` };
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    const reason = messageOf(cause);
    throw new CoreError("ERR_CONFIG_INVALID", `credentials for Kubernetes: ${reason}`, { cause });
  }
}
