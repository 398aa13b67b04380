import { expect, test } from "vitest";
import { serviceSchema } from "../../../core/model/service.ts";
import { endpointChain, serviceChains, servicePortName } from "./chain-names.ts";

const { ports } = serviceSchema.parse({
  kind: "Service",
  name: "x",
  ports: [
    { name: "https", port: 443 },
    { name: "", port: 80 },
  ],
});

test("a port is called by its service and its name, where it has one", () => {
  expect(ports.map((port) => servicePortName("default/kubernetes", port))).toEqual([
    "default/kubernetes:https",
    "default/kubernetes",
  ]);
});

test("chains have the names that kube-proxy gives them", () => {
  expect(serviceChains("default/kubernetes:https", "TCP").cluster).toBe(
    "KUBE-SVC-NPX46M4PTMTKRN6Y",
  );
  expect(serviceChains("ns1/svc1:p80", "TCP")).toEqual({
    cluster: "KUBE-SVC-XPGD46QRK7WJZT7O",
    local: "KUBE-SVL-XPGD46QRK7WJZT7O",
    external: "KUBE-EXT-XPGD46QRK7WJZT7O",
    firewall: "KUBE-FW-XPGD46QRK7WJZT7O",
  });
  expect(endpointChain("ns1/svc1:p80", "TCP", "10.180.0.1", 80)).toBe("KUBE-SEP-SXIVWICOYRO3J4NJ");
});
