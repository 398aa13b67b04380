import { describe, expect, test } from "vitest";
import { keyOf } from "../core/model/object.ts";
import { flagLayer, resolveOptions } from "../core/options/resolve-options.ts";
import { lbObjects } from "./lb-objects.ts";
import { LB_OPTIONS } from "./lb-options.ts";

const A = "10.0.0.1:80";

function objects(flags: Readonly<Record<string, unknown>>) {
  const { values, problems } = resolveOptions(LB_OPTIONS, [flagLayer(flags)]);
  if (values === undefined) throw new Error(JSON.stringify(problems));
  return lbObjects(values);
}

test("makes a service with its listener, its group and its servers", () => {
  const made = objects({ listen: "8080", servers: [`${A},db.example:81`, "10.0.0.3:82"] });
  expect(made.map((one) => `${one.kind} ${keyOf(one)}`)).toEqual([
    "Service default/lb",
    "Group default/lb",
    "Listener default/lb",
    "Endpoint default/lb/10.0.0.1:80",
    "Endpoint default/lb/db.example:81",
    "Endpoint default/lb/10.0.0.3:82",
  ]);
  expect(made).toMatchObject([
    { type: "Plain", ports: [{ protocol: "TCP", port: 8080 }] },
    { method: "weighted-round-robin", healthCheck: { protocol: "tcp" } },
    { address: "127.0.0.1", port: 8080, mode: "tcp", service: "default/lb" },
    { addresses: ["10.0.0.1"], hostName: "", ports: [{ port: 80 }] },
    { addresses: [], hostName: "db.example", ports: [{ port: 81 }] },
    { addresses: ["10.0.0.3"] },
  ]);
});

test.each([
  [{ protocol: "http" }, "http", "tcp"],
  [{ protocol: "udp" }, "udp", "none"],
  [{ protocol: "udp", healthCheck: "tcp" }, "udp", "tcp"],
  [{ socks5: true }, "socks5", "tcp"],
])("mode and health check of %o", (more, mode, protocol) => {
  const [, group, listener] = objects({ listen: "8080", servers: [A], ...more });
  expect(listener).toMatchObject({ mode });
  expect(group).toMatchObject({ healthCheck: { protocol } });
});

test("listens on a unix path, and takes servers of either IP version then", () => {
  const made = objects({ listen: "unix:/run/lb.sock", servers: [`${A},[fd00::1]:80`] });
  expect(made[2]).toMatchObject({ address: "/run/lb.sock", port: 0 });
  expect(made).toHaveLength(5);
});

test("balances to unix sockets, beside addresses", () => {
  const [, , , ...servers] = objects({ listen: "8080", servers: [`unix:/run/app/a.sock,${A}`] });
  expect(servers).toMatchObject([
    { name: "unix:run:app:a.sock", addresses: [], hostName: "/run/app/a.sock", ports: [] },
    { name: A },
  ]);
});

test("a SOCKS5 proxy to anywhere needs no servers", () => {
  const [, , listener, ...servers] = objects({ listen: "1080", socks5: true, allowOthers: true });
  expect(listener).toMatchObject({ mode: "socks5", allowOthers: true });
  expect(servers).toEqual([]);
});

test("TLS is of the listener, with a certificate for each pair of files", () => {
  const tlsCert = ["a.pem", "b.pem"];
  const tlsKey = ["a.key", "b.key"];
  const more = { tlsCert, tlsKey, tlsClientCa: "ca.pem" };
  const made = objects({ listen: "8443", servers: [A], ...more });
  expect(made.slice(2, 5)).toMatchObject([
    { tls: { certificates: ["default/lb-1", "default/lb-2"], clientCaFile: "ca.pem" } },
    { kind: "Certificate", name: "lb-1", certFiles: ["a.pem"], keyFile: "a.key" },
    { kind: "Certificate", name: "lb-2", certFiles: ["b.pem"], keyFile: "b.key" },
  ]);
});

test("a SOCKS5 proxy asks for the users of a file", () => {
  const flags = { listen: "1080", socks5: true, allowOthers: true, socks5Users: "/etc/users" };
  expect(objects(flags)[2]).toMatchObject({ mode: "socks5", usersFile: "/etc/users" });
});

describe("refuses", () => {
  test.each<[string, Readonly<Record<string, unknown>>, RegExp]>([
    ["no address", { servers: [A] }, /^--listen: missing; expected/],
    [
      "a path that is none",
      { listen: "80", servers: ["unix:a.sock"] },
      /^--servers: "unix:a.sock" is not valid; expected HOST:PORT or unix:\/PATH/,
    ],
    [
      "datagrams to a unix socket",
      { listen: "80", servers: ["unix:/a.sock"], protocol: "udp" },
      /^--servers: "unix:\/a.sock" is not valid with --protocol udp/,
    ],
    ["no servers", { listen: "80" }, /^--servers: missing; expected/],
    ["no servers of SOCKS5", { listen: "80", socks5: true }, /^--servers: missing/],
    [
      "a host name to listen on",
      { listen: "localhost:80", servers: [A] },
      /^--listen: "localhost:80"/,
    ],
    ["any free port", { listen: "0", servers: [A] }, /^--listen: "127\.0\.0\.1:0" is not valid/],
    ["a relative path", { listen: "unix:x", servers: [A] }, /expected a path that begins with \//],
    ["a server without port", { listen: "80", servers: ["10.0.0.1"] }, /^--servers: "10\.0\.0\.1"/],
    [
      "a server twice",
      { listen: "80", servers: [A, A] },
      /^--servers: "10\.0\.0\.1:80" is given twice/,
    ],
    [
      "the other IP version",
      { listen: "80", servers: ["[::1]:1"] },
      /"\[::1\]:1" .* same IP version/,
    ],
    [
      "others without SOCKS5",
      { listen: "80", servers: [A], allowOthers: true },
      /--socks5 with it/,
    ],
    [
      "a certificate without key",
      { listen: "80", servers: [A], tlsCert: ["a.pem"] },
      /^--tls-key: given 0 times; expected as often as --tls-cert \(1\)/,
    ],
    [
      "authorities without a certificate",
      { listen: "80", servers: [A], tlsClientCa: "ca.pem" },
      /^--tls-client-ca: expected --tls-cert with it/,
    ],
    [
      "TLS over UDP",
      { listen: "80", servers: [A], tlsCert: ["a"], tlsKey: ["a"], protocol: "udp" },
      /^--protocol: "udp" is not valid with --tls-cert/,
    ],
    ["users without SOCKS5", { listen: "80", servers: [A], socks5Users: "x" }, /--socks5 with it/],
    [
      "SOCKS5 over UDP",
      { listen: "80", servers: [A], socks5: true, protocol: "udp" },
      /^--protocol: "udp" is not valid with --socks5/,
    ],
  ])("%s", (_, flags, message) => {
    expect(() => objects(flags)).toThrow(expect.objectContaining({ code: "ERR_USAGE" }));
    expect(() => objects(flags)).toThrow(message);
  });

  test("all that is wrong at once", () => {
    expect(() => objects({ listen: "0", servers: ["x"], allowOthers: true })).toThrow(
      /--listen: .*\n--servers: .*\n--allow-others: /,
    );
  });
});
