/** What `--from kube` needs. */
export const KUBE_OPTIONS = {
  kubeconfig: {
    kind: "string",
    placeholder: "FILE",
    help: "how the cluster is reached; else KUBECONFIG, the service account of the pod, ~/.kube/config",
  },
  kubeContext: {
    kind: "string",
    placeholder: "NAME",
    help: "the context of the kubeconfig; the current one when not given",
  },
  kubeServer: {
    kind: "list",
    placeholder: "URL",
    help: "an API server in place of the one that is configured; may be repeated: they are tried in turn",
  },
  kubeNodes: {
    kind: "enum",
    values: ["auto", "own", "all"],
    default: "auto",
    help: "which nodes are followed; auto: this one, all with --to api and with up",
  },
  serviceProxyName: {
    kind: "string",
    placeholder: "NAME",
    help: "only services with the label service.kubernetes.io/service-proxy-name of this value; without it those that have no such label",
  },
  withServiceLabels: {
    kind: "list",
    placeholder: "PATTERN",
    help: "labels of services that are kept, * is any text; none when not given; may be repeated",
  },
  withServiceAnnotations: {
    kind: "list",
    placeholder: "PATTERN",
    help: "annotations of services that are kept, * is any text; *portolan* when not given; may be repeated",
  },
  withNodeLabels: {
    kind: "list",
    placeholder: "PATTERN",
    help: "labels of nodes that are kept; kubernetes.io/hostname and topology.kubernetes.io/* when not given",
  },
  withNodeAnnotations: {
    kind: "list",
    placeholder: "PATTERN",
    help: "annotations of nodes that are kept; none when not given",
  },
  kubePageSize: {
    kind: "number",
    min: 0,
    max: 100_000,
    default: 500,
    help: "how many objects a page of a list has; 0: all in one",
  },
} as const;
