import type { Finding } from "../../backends/backend.ts";
import type { Surveyed } from "./survey.ts";

/** Reads a file of `/proc` or `/dev`: its text, empty for what is there without one; undefined: it is not there. */
export type ReadKernelFile = (path: string) => Promise<string | undefined>;

interface Feature {
  readonly name: string;
  readonly summary: string;
  readonly path: string;
  /** What is wrong with what the file says, if anything is. */
  readonly judge?: (text: string) => Finding | undefined;
  /** What is wrong where there is no such file. */
  readonly absent: Finding;
}

function degraded(what: string, remedy: string): Finding {
  return { severity: "degraded", what, remedy };
}

function missing(what: string, remedy: string): Finding {
  return { severity: "missing", what, remedy };
}

const FEATURES: readonly Feature[] = [
  {
    name: "IPv6",
    summary: "addresses of both families, side by side",
    path: "/proc/sys/net/ipv6/conf/all/disable_ipv6",
    judge: (text) =>
      text.trim() === "0"
        ? undefined
        : degraded("IPv6 is switched off", "sysctl -w net.ipv6.conf.all.disable_ipv6=0"),
    absent: degraded("no IPv6", "boot without ipv6.disable=1"),
  },
  {
    name: "conntrack",
    summary: "what the kernel knows of flows: nftables, iptables, ipvs",
    path: "/proc/sys/net/netfilter/nf_conntrack_max",
    absent: missing("connections are not tracked", "modprobe nf_conntrack"),
  },
  {
    name: "namespaces",
    summary: "networks of workloads, and of the tests",
    path: "/proc/self/ns/net",
    absent: missing("no network namespaces", "use a kernel with CONFIG_NET_NS"),
  },
  {
    name: "TUN",
    summary: "devices of overlays",
    path: "/dev/net/tun",
    absent: missing("no /dev/net/tun", "modprobe tun"),
  },
];

/** What the kernel of this machine gives to data planes. */
export function surveyKernel(read: ReadKernelFile): Promise<readonly Surveyed[]> {
  return Promise.all(
    FEATURES.map(async ({ name, summary, path, judge, absent }) => {
      const text = await read(path);
      const finding = text === undefined ? absent : judge?.(text);
      return { name, summary, findings: finding === undefined ? [] : [finding] };
    }),
  );
}
