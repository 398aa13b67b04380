import { expect, test } from "vitest";
import { toolInputs } from "./tool-inputs.ts";

test("each program is given all of its parts at once; settings are left out", () => {
  const script = `# settings of the kernel
sysctl -w a=1
# ip -batch -
link add kube-ipvs0 type dummy
# ipset restore
create KUBE-A hash:ip
# ipvsadm -R
-A -t 10.0.0.1:80 -s wrr
# ip -batch -
address add 10.0.0.1/32 dev kube-ipvs0
# iptables-legacy-restore -w 30 --noflush
*nat
COMMIT
`;
  expect(toolInputs(script)).toEqual([
    {
      program: "ip",
      args: ["-batch", "-"],
      text: "link add kube-ipvs0 type dummy\naddress add 10.0.0.1/32 dev kube-ipvs0\n",
    },
    { program: "ipset", args: ["restore", "-exist"], text: "create KUBE-A hash:ip\n" },
    { program: "ipvsadm", args: ["-R"], text: "-A -t 10.0.0.1:80 -s wrr\n" },
    {
      program: "iptables-legacy-restore",
      args: ["-w", "30", "--noflush"],
      text: "*nat\nCOMMIT\n",
    },
  ]);
});
