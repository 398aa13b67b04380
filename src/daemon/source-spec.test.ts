import { expect, test } from "vitest";
import { parseSourceSpec } from "./source-spec.ts";

test.each([
  ["file:a/b.yaml", { kind: "file", owner: "file:a/b.yaml", path: "a/b.yaml" }],
  ["file:C:\\state.yaml", { kind: "file", owner: "file:C:\\state.yaml", path: "C:\\state.yaml" }],
  [
    "api:10.0.0.1:12090",
    {
      kind: "api",
      owner: "api:10.0.0.1:12090",
      address: { kind: "tcp", host: "10.0.0.1", port: 12090 },
    },
  ],
  [
    "api:unix:/run/p.sock",
    { kind: "api", owner: "api:unix:/run/p.sock", address: { kind: "unix", path: "/run/p.sock" } },
  ],
  [
    "api:plain:10.0.0.1:12090",
    {
      kind: "api",
      owner: "api:plain:10.0.0.1:12090",
      address: { kind: "tcp", host: "10.0.0.1", port: 12090 },
      isPlain: true,
    },
  ],
  [
    "api",
    {
      kind: "api",
      owner: "api:127.0.0.1:12090",
      address: { kind: "tcp", host: "127.0.0.1", port: 12090 },
    },
  ],
  [
    "etcd:10.0.0.1:2379,[fd00::1]:2379",
    {
      kind: "etcd",
      owner: "etcd:10.0.0.1:2379,[fd00::1]:2379",
      members: [
        { kind: "tcp", host: "10.0.0.1", port: 2379 },
        { kind: "tcp", host: "fd00::1", port: 2379 },
      ],
    },
  ],
  [
    "etcd",
    {
      kind: "etcd",
      owner: "etcd:127.0.0.1:2379",
      members: [{ kind: "tcp", host: "127.0.0.1", port: 2379 }],
    },
  ],
])("reads %s", (text, spec) => {
  expect(parseSourceSpec(text)).toEqual(spec);
});

test.each([
  ["kube:", "ERR_CONFIG_INVALID", '"kube:" is not a source; expected file:PATH, kube'],
  ["kub", "ERR_CONFIG_INVALID", 'did you mean "kube'],
  ["etcd:127.0.0.1:2379,unix:/x", "ERR_CONFIG_INVALID", "is not a source"],
  ["etcd:127.0.0.1:2379,", "ERR_CONFIG_INVALID", "etcd:HOST:PORT[,HOST:PORT]"],
  ["flie:x.yaml", "ERR_CONFIG_INVALID", 'did you mean "file:"?'],
  ["file:", "ERR_CONFIG_INVALID", '"file:" is not a source; expected file:PATH'],
  ["api:nowhere", "ERR_CONFIG_INVALID", '"api:nowhere" is not a source'],
  ["api:plain:", "ERR_CONFIG_INVALID", '"api:plain:" is not a source'],
  ["", "ERR_CONFIG_INVALID", '"" is not a source'],
])("refuses %j", (text, code, message) => {
  expect(() => parseSourceSpec(text)).toThrow(
    expect.objectContaining({ code, message: expect.stringContaining(message) }),
  );
});
