import * as z from "zod";
import { CoreError, messageOf } from "../../core/errors.ts";
import { problemsError } from "../../core/model/problems.ts";
import { checkAgainst } from "../../core/model/zod-problems.ts";
import { type Exec, execChecked } from "../../platform/linux/exec.ts";
import { bearer, type CredentialSource, type Credentials } from "./credentials.ts";

/** A program that gives credentials, as a kubeconfig names it. */
export interface ExecPlugin {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** What the kubeconfig tells people where the program is missing. */
  readonly installHint: string;
  /** What it is told of the cluster, where it wants to know. */
  readonly cluster?: Readonly<Record<string, unknown>>;
}

export interface ExecCredentialsOptions {
  readonly exec: Exec;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly nowMs: () => number;
}

const TIMEOUT_MS = 60_000;
const MAX_OUTPUT_BYTES = 1_048_576;
/** Credentials that end sooner than this are not used for another request. */
const SPARE_MS = 10_000;

const answerSchema = z.looseObject({
  kind: z.literal("ExecCredential"),
  apiVersion: z.string(),
  status: z.looseObject({
    token: z.string().optional(),
    clientCertificateData: z.string().optional(),
    clientKeyData: z.string().optional(),
    expirationTimestamp: z.string().optional(),
  }),
});

/** Runs a program for credentials (client.authentication.k8s.io) and keeps them until they end. */
export function createExecCredentials(
  plugin: ExecPlugin,
  { exec, environment, nowMs }: ExecCredentialsOptions,
): CredentialSource {
  let kept: { readonly credentials: Credentials; readonly untilMs: number } | undefined;
  let running: Promise<Credentials> | undefined;
  const ask = async (): Promise<Credentials> => {
    const answer = await run(plugin, exec, environment);
    kept = { credentials: answer.credentials, untilMs: answer.untilMs };
    return answer.credentials;
  };
  return {
    read: () => {
      if (kept !== undefined && nowMs() + SPARE_MS < kept.untilMs) {
        return Promise.resolve(kept.credentials);
      }
      // Several requests at once run it once.
      running ??= ask().finally(() => {
        running = undefined;
      });
      return running;
    },
    refused: () => {
      kept = undefined;
    },
  };
}

async function run(
  plugin: ExecPlugin,
  exec: Exec,
  environment: ExecCredentialsOptions["environment"],
): Promise<{ readonly credentials: Credentials; readonly untilMs: number }> {
  const info = {
    kind: "ExecCredential",
    apiVersion: plugin.apiVersion,
    spec: { interactive: false, ...(plugin.cluster && { cluster: plugin.cluster }) },
  };
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment))
    if (value !== undefined) env[name] = value;
  const { stdout } = await execChecked(exec, plugin.command, plugin.args, {
    timeoutMs: TIMEOUT_MS,
    maxOutputBytes: MAX_OUTPUT_BYTES,
    env: { ...env, ...plugin.env, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
  }).catch((cause: unknown) => {
    const hint = plugin.installHint === "" ? "" : `\n${plugin.installHint}`;
    const reason = messageOf(cause);
    throw new CoreError("ERR_CONFIG_INVALID", `credentials for Kubernetes: ${reason}${hint}`, {
      cause,
    });
  });
  return parseAnswer(stdout, plugin);
}

function parseAnswer(
  stdout: string,
  { command, apiVersion }: ExecPlugin,
): { readonly credentials: Credentials; readonly untilMs: number } {
  const path = [`answer of ${command}`];
  const checked = checkAgainst(answerSchema, parseJson(stdout), path);
  if (!checked.ok) throw problemsError("ERR_CONFIG_INVALID", checked.problems);
  const { status } = checked.value;
  if (checked.value.apiVersion !== apiVersion) {
    throw new CoreError(
      "ERR_CONFIG_INVALID",
      `${command} answered in ${checked.value.apiVersion}; expected ${apiVersion}, as the kubeconfig says`,
    );
  }
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = status;
  if (token === undefined && (cert === undefined || key === undefined)) {
    throw new CoreError(
      "ERR_CONFIG_INVALID",
      `${command} gave no credentials; expected a token, or a certificate with its key`,
    );
  }
  const untilMs = expirationTimestamp === undefined ? Number.NaN : Date.parse(expirationTimestamp);
  return {
    credentials: {
      ...(token !== undefined && bearer(token)),
      ...(cert !== undefined && key !== undefined && { cert, key }),
    },
    // Without an end they hold until the server refuses them.
    untilMs: Number.isNaN(untilMs) ? Number.POSITIVE_INFINITY : untilMs,
  };
}

/** Not JSON: undefined, which is refused with what would be right. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
