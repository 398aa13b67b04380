import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { loadAll } from "js-yaml";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { BACKEND_NAMES } from "../../src/backends/registry.ts";
import { createRunCommand } from "../../src/cli/run.ts";
import { flagName } from "../../src/core/options/option-spec.ts";
import { resolveConfig } from "../../src/daemon/config.ts";
import { MANIFEST_VALUES } from "../support/manifest-values.ts";

/** The fields that the manifests use, and no others: a word that is not among them is a mistake. */
const strings = z.record(z.string(), z.string());
const metadata = z.strictObject({
  name: z.string(),
  namespace: z.string().optional(),
  labels: strings,
});
const labels = z.strictObject({ matchLabels: strings });
const port = z.int().min(1).max(65_535);

const probe = z.strictObject({
  httpGet: z.strictObject({ path: z.string().startsWith("/"), port: z.string() }),
  initialDelaySeconds: z.int().optional(),
  periodSeconds: z.int(),
  timeoutSeconds: z.int(),
  failureThreshold: z.int().optional(),
});

const container = z.strictObject({
  name: z.string(),
  image: z.string().regex(/^[a-z-]+:[\d.]+$/),
  imagePullPolicy: z.enum(["IfNotPresent", "Always", "Never"]),
  args: z.array(z.string()),
  env: z
    .array(
      z.strictObject({
        name: z.string(),
        valueFrom: z.strictObject({ fieldRef: z.strictObject({ fieldPath: z.string() }) }),
      }),
    )
    .optional(),
  ports: z.array(z.strictObject({ name: z.string(), containerPort: port, hostPort: port })),
  livenessProbe: probe,
  readinessProbe: probe,
  resources: z.strictObject({ requests: z.strictObject({ cpu: z.string(), memory: z.string() }) }),
  securityContext: z.union([
    z.strictObject({
      runAsUser: z.int(),
      runAsNonRoot: z.literal(true).optional(),
      allowPrivilegeEscalation: z.literal(false),
      readOnlyRootFilesystem: z.literal(true),
      capabilities: z.strictObject({
        drop: z.tuple([z.literal("ALL")]),
        add: z.array(z.enum(["NET_ADMIN", "NET_RAW", "BPF"])).optional(),
      }),
      seccompProfile: z.strictObject({ type: z.literal("RuntimeDefault") }),
    }),
    z.strictObject({
      runAsUser: z.literal(0),
      privileged: z.literal(true),
      readOnlyRootFilesystem: z.literal(true),
    }),
    z.strictObject({
      windowsOptions: z.strictObject({
        hostProcess: z.literal(true),
        runAsUserName: z.literal("NT AUTHORITY\\SYSTEM"),
      }),
    }),
  ]),
  volumeMounts: z
    .array(
      z.strictObject({
        name: z.string(),
        mountPath: z.string().startsWith("/"),
        readOnly: z.boolean().optional(),
      }),
    )
    .default([]),
});

const volume = z.strictObject({
  name: z.string(),
  emptyDir: z.strictObject({}).optional(),
  hostPath: z.strictObject({ path: z.string(), type: z.string() }).optional(),
  secret: z.strictObject({ secretName: z.string(), defaultMode: z.int().optional() }).optional(),
});

const podSpec = z.strictObject({
  serviceAccountName: z.string().optional(),
  automountServiceAccountToken: z.literal(false).optional(),
  hostNetwork: z.literal(true),
  priorityClassName: z.enum(["system-node-critical", "system-cluster-critical"]),
  nodeSelector: strings,
  tolerations: z.array(
    z.strictObject({ key: z.string().optional(), operator: z.literal("Exists") }),
  ),
  affinity: z.strictObject({ podAntiAffinity: z.unknown() }).optional(),
  securityContext: z.strictObject({ fsGroup: z.int() }).optional(),
  containers: z.array(container).length(1),
  volumes: z.array(volume).default([]),
});

const template = z.strictObject({ metadata: z.strictObject({ labels: strings }), spec: podSpec });
const rolling = { type: z.literal("RollingUpdate") };

const workload = z.discriminatedUnion("kind", [
  z.strictObject({
    apiVersion: z.literal("apps/v1"),
    kind: z.literal("DaemonSet"),
    metadata,
    spec: z.strictObject({
      selector: labels,
      updateStrategy: z.strictObject({
        ...rolling,
        rollingUpdate: z.strictObject({ maxUnavailable: z.string() }),
      }),
      template,
    }),
  }),
  z.strictObject({
    apiVersion: z.literal("apps/v1"),
    kind: z.literal("Deployment"),
    metadata,
    spec: z.strictObject({
      replicas: z.int(),
      selector: labels,
      strategy: z.strictObject({
        ...rolling,
        rollingUpdate: z.strictObject({ maxSurge: z.int(), maxUnavailable: z.int() }),
      }),
      template,
    }),
  }),
]);

const others = z.discriminatedUnion("kind", [
  z.strictObject({
    apiVersion: z.literal("v1"),
    kind: z.literal("ServiceAccount"),
    metadata,
  }),
  z.strictObject({
    apiVersion: z.literal("rbac.authorization.k8s.io/v1"),
    kind: z.literal("ClusterRole"),
    metadata,
    rules: z.array(
      z.strictObject({
        apiGroups: z.array(z.string()),
        resources: z.array(z.string()),
        verbs: z.array(z.string()),
      }),
    ),
  }),
  z.strictObject({
    apiVersion: z.literal("rbac.authorization.k8s.io/v1"),
    kind: z.literal("ClusterRoleBinding"),
    metadata,
    roleRef: z.strictObject({ apiGroup: z.string(), kind: z.string(), name: z.string() }),
    subjects: z.array(
      z.strictObject({ kind: z.string(), name: z.string(), namespace: z.string() }),
    ),
  }),
  z.strictObject({
    apiVersion: z.literal("policy/v1"),
    kind: z.literal("PodDisruptionBudget"),
    metadata,
    spec: z.strictObject({ maxUnavailable: z.int(), selector: labels }),
  }),
]);

type Workload = z.infer<typeof workload>;
type DeployObject = Workload | z.infer<typeof others>;

/** @throws where a field is not known, or is not what it should be */
function parseDeployObject(raw: unknown): DeployObject {
  return z.union([workload, others]).parse(raw);
}

function isWorkload(object: DeployObject): object is Workload {
  return object.kind === "DaemonSet" || object.kind === "Deployment";
}

const ROOT = new URL("../../", import.meta.url).pathname;
const MANIFESTS = join(ROOT, "deploy/manifests");

const documentsOf = (file: string) =>
  loadAll(readFileSync(join(MANIFESTS, file), "utf8"))
    .filter((raw) => raw !== null && raw !== undefined)
    .map(parseDeployObject);

/** The options of `run` that arguments say, as the command line gives them. */
async function flagsOf(args: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
  const { optionGroups } = await createRunCommand();
  const specs = new Map(
    optionGroups.flatMap(({ specs: group }) =>
      Object.entries(group).map(([name, spec]) => [flagName(name), { name, spec }] as const),
    ),
  );
  const flags: Record<string, unknown> = {};
  for (const arg of args) {
    const [, flag = "", value] = /^--([a-z-]+)(?:=(.*))?$/.exec(arg) ?? [];
    const known = specs.get(flag);
    if (known === undefined) throw new Error(`${arg}: run has no such option`);
    const { name, spec } = known;
    const before = flags[name];
    if (spec.kind === "list") flags[name] = [...(Array.isArray(before) ? before : []), value];
    else flags[name] = spec.kind === "boolean" ? true : value;
  }
  return flags;
}

/** Of agents that are not privileged. */
function rightsIn(file: string): readonly string[] {
  const direct = file === "userspace.yaml" ? [] : ["BPF"];
  return ["NET_ADMIN", "NET_RAW", ...direct];
}

test("there is a manifest for each way to run it, and no other", () => {
  expect(readdirSync(MANIFESTS).sort()).toEqual([...MANIFEST_VALUES.keys()].sort());
});

/** Health checks stand beside others; print shows; services of Kubernetes have no edge addresses. */
const NO_DAEMON_SET = ["healthchecks", "print", "edge"];

test("each backend that programs nodes has its DaemonSet", () => {
  const programs = BACKEND_NAMES.filter((name) => !NO_DAEMON_SET.includes(name));
  const files = [...MANIFEST_VALUES.keys()].filter((file) => file !== "brain.yaml");
  expect(files.map((file) => file.replace(".yaml", "")).sort()).toEqual(programs.sort());
});

describe.each([...MANIFEST_VALUES.keys()])("%s", (file) => {
  const documents = documentsOf(file);
  const workloads: readonly Workload[] = documents.filter(isWorkload);

  test("what belongs together does", () => {
    for (const { metadata, spec } of workloads) {
      const { template, selector } = spec;
      const pod = template.spec;
      expect(template.metadata.labels).toEqual(selector.matchLabels);
      expect(metadata.namespace).toBe("kube-system");
      const [container] = pod.containers;
      const mounts = container?.volumeMounts.map(({ name }) => name).sort();
      expect(mounts).toEqual(pod.volumes.map(({ name }) => name).sort());
      const ports = container?.ports.map(({ name }) => name);
      for (const probe of [container?.livenessProbe, container?.readinessProbe]) {
        expect(ports).toContain(probe?.httpGet.port);
      }
      const names = documents.map(({ kind, metadata: { name } }) => `${kind} ${name}`);
      const account = pod.serviceAccountName;
      if (account !== undefined) expect(names).toContain(`ServiceAccount ${account}`);
    }
  });

  test("it has the rights to list and watch three resources, and no other", () => {
    const rules = documents.flatMap((object) =>
      object.kind === "ClusterRole" ? object.rules : [],
    );
    expect(rules).toEqual([
      { apiGroups: [""], resources: ["services", "nodes"], verbs: ["list", "watch"] },
      { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["list", "watch"] },
    ]);
  });

  test("it is for nodes of one system, and has the security context of that", () => {
    const system = file === "hcn.yaml" ? "windows" : "linux";
    for (const { spec } of workloads) {
      const { nodeSelector, containers } = spec.template.spec;
      expect(nodeSelector["kubernetes.io/os"]).toBe(system);
      const fields = Object.keys(containers[0]?.securityContext ?? {});
      expect(fields.includes("windowsOptions")).toBe(system === "windows");
    }
  });

  test("only what programs the kernel is root; only IPVS, which sets what nobody else may, has all rights", () => {
    for (const { kind, spec } of workloads) {
      const security = spec.template.spec.containers[0]?.securityContext;
      if (security === undefined || "windowsOptions" in security) continue;
      expect(security.runAsUser === 0).toBe(kind === "DaemonSet");
      expect("privileged" in security).toBe(file === "ipvs.yaml");
      if ("privileged" in security) continue;
      const { capabilities } = security;
      expect(capabilities.add ?? []).toEqual(kind === "DaemonSet" ? rightsIn(file) : []);
    }
  });

  test("in its pod on Linux kube-proxy's rules can be removed, under the node's lock of iptables", () => {
    for (const { kind, spec } of workloads) {
      if (kind !== "DaemonSet" || file === "hcn.yaml") continue;
      const { containers, volumes } = spec.template.spec;
      const path = "/run/xtables.lock";
      const hostPath = { path, type: "FileOrCreate" };
      expect(volumes).toContainEqual({ name: "xtables-lock", hostPath });
      expect(containers[0]?.volumeMounts).toContainEqual({ name: "xtables-lock", mountPath: path });
    }
  });

  test("programs in the kernel are for the processes of the node, not of the container", () => {
    for (const { spec } of workloads) {
      const { containers, volumes } = spec.template.spec;
      const flag = "--direct-connect-cgroup=";
      const path = containers[0]?.args.find((arg) => arg.startsWith(flag))?.slice(flag.length);
      const isMounted = volumes.some(({ hostPath }) => hostPath?.path === "/sys/fs/cgroup");
      expect(path !== undefined).toBe(isMounted);
      if (path === undefined) continue;
      const mount = { name: "cgroups", mountPath: path, readOnly: true };
      expect(containers[0]?.volumeMounts).toContainEqual(mount);
    }
  });

  test("its arguments are those of this version", async () => {
    for (const { spec } of workloads) {
      const [command, ...args] = spec.template.spec.containers[0]?.args ?? [];
      expect(command).toBe("run");
      const flags = await flagsOf(args);
      const config = await resolveConfig({ flags, environment: {}, hostName: "host" });
      expect(config.sources).toHaveLength(1);
      expect(config.values.healthListen).toBeDefined();
    }
  });
});

test.each(["deploy/Dockerfile", "deploy/windows/Dockerfile"])(
  "the image of %s is made of what is there",
  (path) => {
    const text = readFileSync(join(ROOT, path), "utf8");
    const copied = [...text.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names = ""]) =>
      names.split(" "),
    );
    expect(copied.length).toBeGreaterThan(4);
    for (const name of copied) expect(existsSync(join(ROOT, name)), name).toBe(true);
    const sent = readFileSync(join(ROOT, `${path}.dockerignore`), "utf8");
    const named = [...sent.matchAll(/^!(.+)$/gm)].map(([, name]) => name);
    expect(named.sort()).toEqual([...new Set(copied)].sort());
  },
);

test("the image has the program by its name, as guides call it", () => {
  const text = readFileSync(join(ROOT, "deploy/Dockerfile"), "utf8");
  expect(text).toContain("RUN ln -s /app/dist/cli/main.js /usr/local/bin/portolan\n");
  expect(text).toContain('ENTRYPOINT ["portolan"]\n');
});

test("the brain's image is not root's", () => {
  const text = readFileSync(join(ROOT, "deploy/Dockerfile"), "utf8");
  expect(text).toMatch(/AS brain\nUSER 65532:65532\n/);
});
