import { describe, expect, test } from "vitest";
import {
  addressChangedMessage,
  deployedMessage,
  readSubnetAnswer,
  readTableAnswer,
  tableQuery,
} from "./cluster-messages.ts";
import { isJobName, jobOfTopic, updatesTopic } from "./cluster-topics.ts";

const bytes = (value: unknown) => Buffer.from(JSON.stringify(value));

const INSTANCE = {
  instance_number: 1,
  namespace_ip: "10.18.0.66",
  namespace_ip_v6: "fc00::102",
  host_ip: "192.168.1.2",
  host_port: "50103",
  service_ip: [
    { IpType: "RR", Address: "10.30.0.1", Address_v6: "fdff:2000::1" },
    { IpType: "instance_ip", Address: "10.30.0.2", Address_v6: "" },
  ],
};
const ANSWER = {
  app_name: "shop.test.web.prod",
  query_key: "10.30.0.1",
  instance_list: [INSTANCE],
};

describe("the answer to a table query", () => {
  test("has instances with their node and what their addresses mean", () => {
    expect(readTableAnswer(bytes(ANSWER))).toEqual({
      jobName: "shop.test.web.prod",
      queryKey: "10.30.0.1",
      instances: [
        {
          number: 1,
          addresses: ["10.18.0.66", "fc00::102"],
          host: { ip: "192.168.1.2", port: 50_103 },
          serviceIps: [
            { policy: "round-robin", address: "10.30.0.1" },
            { policy: "round-robin", address: "fdff:2000::1" },
            { policy: "instance", address: "10.30.0.2" },
          ],
        },
      ],
    });
  });

  test("may say that nobody has it, and that an instance does not run yet", () => {
    const nobody = { app_name: "", query_key: "10.30.9.9", instance_list: [] };
    expect(readTableAnswer(bytes(nobody))).toMatchObject({ jobName: "", instances: [] });
    const waiting = { instance_number: 0, namespace_ip: "", host_ip: null, host_port: 0 };
    const answer = readTableAnswer(bytes({ ...ANSWER, instance_list: [waiting] }));
    expect(answer.instances).toEqual([
      { number: 0, addresses: [], host: undefined, serviceIps: [] },
    ]);
  });

  test.each([
    ["app_name", { ...ANSWER, app_name: "shop" }],
    ["instance_list", { ...ANSWER, instance_list: "none" }],
    ["instance_list", { ...ANSWER, instance_list: Array(4097).fill({ instance_number: 0 }) }],
    ["instance_number", { ...ANSWER, instance_list: [{ ...INSTANCE, instance_number: -1 }] }],
    ["host_ip", { ...ANSWER, instance_list: [{ ...INSTANCE, host_ip: "nowhere" }] }],
    ["host_port", { ...ANSWER, instance_list: [{ ...INSTANCE, host_port: "70000" }] }],
    ["IpType", { ...ANSWER, instance_list: [{ ...INSTANCE, service_ip: [{ IpType: "Any" }] }] }],
  ])("is refused by its field where %s is wrong", (field, answer) => {
    expect(() => readTableAnswer(bytes(answer))).toThrow(field);
  });

  test("is refused where it is too long or no JSON", () => {
    expect(() => readTableAnswer(Buffer.alloc((1 << 20) + 1))).toThrow("at most 1048576");
    expect(() => readTableAnswer(Buffer.from("{"))).toThrow("no JSON");
  });
});

test("what is sent is what managers of clusters read", () => {
  const own = {
    ...{ jobName: "shop.test.web.prod", number: 2, nsip: "10.18.0.66", nsipv6: "fc00::102" },
    ...{ hostIp: "192.168.1.2", hostPort: 50_103 },
  };
  expect(deployedMessage(own)).toEqual({
    ...{ appname: "shop.test.web.prod", status: "DEPLOYED", instance_number: 2 },
    ...{ nsip: "10.18.0.66", nsipv6: "fc00::102", host_ip: "192.168.1.2", host_port: "50103" },
  });
  expect(addressChangedMessage(own)).toEqual({
    ...{ appname: "shop.test.web.prod", instance_number: 2 },
    ...{ host_ip: "192.168.1.2", host_port: "50103" },
  });
  expect(tableQuery("name", "a.b.c.d")).toEqual({ sname: "a.b.c.d", sip: "" });
  expect(tableQuery("address", "10.30.0.1")).toEqual({ sname: "", sip: "10.30.0.1" });
});

test("a subnetwork may come without one of IPv6", () => {
  expect(readSubnetAnswer(bytes({ address: "10.18.0.64" }))).toEqual({
    ...{ address: "10.18.0.64", addressv6: "" },
  });
  expect(() => readSubnetAnswer(bytes({ address: 7 }))).toThrow("address");
});

test("names of jobs have four parts, and nothing that is special in a topic", () => {
  expect(["a.b.c.d", "a.b.c", "a.b.c.d.e", "a.+.c.d", "a.b.c.d/#"].filter(isJobName)).toEqual([
    "a.b.c.d",
  ]);
  expect(jobOfTopic(updatesTopic("a.b.c.d"))).toBe("a.b.c.d");
  expect(jobOfTopic("jobs/a.b.c.d/updates_available/x")).toBeUndefined();
});
