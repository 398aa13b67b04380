import * as z from "zod";

/** What is used of a kubeconfig; the rest is for other programs. */
export interface KubeconfigCluster {
  readonly server: string;
  readonly "certificate-authority"?: string | undefined;
  readonly "certificate-authority-data"?: string | undefined;
  readonly "insecure-skip-tls-verify"?: boolean | undefined;
  readonly "tls-server-name"?: string | undefined;
  readonly "proxy-url"?: string | undefined;
  readonly [other: string]: unknown;
}

export interface KubeconfigExec {
  readonly apiVersion: string;
  readonly command: string;
  readonly args?: readonly string[] | null | undefined;
  readonly env?: readonly { readonly name: string; readonly value: string }[] | null | undefined;
  readonly installHint?: string | undefined;
  readonly provideClusterInfo?: boolean | undefined;
}

export interface KubeconfigUser {
  readonly token?: string | undefined;
  readonly tokenFile?: string | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly "client-certificate"?: string | undefined;
  readonly "client-certificate-data"?: string | undefined;
  readonly "client-key"?: string | undefined;
  readonly "client-key-data"?: string | undefined;
  readonly exec?: KubeconfigExec | null | undefined;
  readonly [other: string]: unknown;
}

export interface KubeconfigContextEntry {
  readonly cluster: string;
  readonly user: string;
}

export interface Kubeconfig {
  readonly "current-context"?: string | null | undefined;
  readonly clusters?: readonly Named<"cluster", KubeconfigCluster>[] | null | undefined;
  readonly users?: readonly Named<"user", KubeconfigUser | null | undefined>[] | null | undefined;
  readonly contexts?: readonly Named<"context", KubeconfigContextEntry>[] | null | undefined;
}

type Named<K extends string, T> = { readonly name: string } & Readonly<Record<K, T>>;

const text = z.string().optional();

const clusterSchema = z.looseObject({
  server: z.string().min(1),
  "certificate-authority": text,
  "certificate-authority-data": text,
  "insecure-skip-tls-verify": z.boolean().optional(),
  "tls-server-name": text,
  "proxy-url": text,
});

const execSchema = z.looseObject({
  apiVersion: z.string(),
  command: z.string().min(1),
  args: z.array(z.string()).nullish(),
  env: z.array(z.looseObject({ name: z.string(), value: z.string() })).nullish(),
  installHint: text,
  provideClusterInfo: z.boolean().optional(),
});

const userSchema = z.looseObject({
  token: text,
  tokenFile: text,
  username: text,
  password: text,
  "client-certificate": text,
  "client-certificate-data": text,
  "client-key": text,
  "client-key-data": text,
  exec: execSchema.nullish(),
});

const contextSchema = z.looseObject({ cluster: z.string(), user: z.string().default("") });

export const kubeconfigSchema: z.ZodType<Kubeconfig> = z.looseObject({
  "current-context": z.string().nullish(),
  clusters: z.array(z.looseObject({ name: z.string(), cluster: clusterSchema })).nullish(),
  users: z
    .array(z.looseObject({ name: z.string(), user: userSchema.nullish().default(null) }))
    .nullish(),
  contexts: z.array(z.looseObject({ name: z.string(), context: contextSchema })).nullish(),
});
