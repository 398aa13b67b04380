const SERVER = "kubeServers={https://10.0.0.1:6443}";

/** For each file of `deploy/manifests`, the values with which the chart gives it. */
export const MANIFEST_VALUES: ReadonlyMap<string, readonly string[]> = new Map([
  ["nftables.yaml", ["backend=nftables", SERVER]],
  ["iptables.yaml", ["backend=iptables", SERVER]],
  ["ipvs.yaml", ["backend=ipvs", SERVER]],
  ["userspace.yaml", ["backend=userspace", SERVER]],
  ["hcn.yaml", ["backend=", "windows.enabled=true", "windows.networkName=cbr0", SERVER]],
  ["brain.yaml", ["backend=nftables", SERVER, "brain.enabled=true", "brain.address=10.0.0.2"]],
]);
