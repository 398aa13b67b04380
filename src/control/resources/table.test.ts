import { expect, test } from "vitest";
import { ACTIONS } from "../command.ts";
import { CERT_FILE, KEY_FILE } from "../control-world.fixture.ts";
import { RESOURCE_NAMES } from "../resource-names.ts";
import { TypedControl } from "../typed.fixture.ts";
import { DNS_SERVERS } from "./dns-server.ts";
import { SERVER_GROUPS } from "./server-group.ts";
import { SOCKS5_SERVERS } from "./socks5-server.ts";
import { DESIRED_RESOURCES, HANDLERS, RESOURCES } from "./table.ts";
import { TCP_LBS } from "./tcp-lb.ts";
import { UDP_LBS } from "./udp-lb.ts";

/** What the examples of the manual are about. */
const BASE = [
  "add upstream u0",
  "add upstream u1",
  "add event-loop-group elg0",
  "add security-group secg0 default deny",
  "add security-group-rule r0 to security-group secg0 network 192.0.2.0/24 default allow",
  "add cert-key c0 cert /etc/ssl/site.pem key /etc/ssl/site.key",
  "add cert-key c1 cert /etc/ssl/site.pem key /etc/ssl/site.key",
  "add server-group g0",
  "add server s1 to server-group g0 address 192.0.2.1:80",
  "add server-group g0 to upstream u0",
  "add tcp-lb lb0 address 192.0.2.1:80 upstream u0",
  "add udp-lb ulb0 address 192.0.2.1:53 upstream u0",
  "add socks5-server s5 address 192.0.2.1:1080 upstream u0",
  "add dns-server dns0 address 192.0.2.2:53 upstream u0",
  "add service web ports 80",
  "add endpoint web-1 to service web address 192.0.2.3",
] as const;

async function prepared(): Promise<TypedControl> {
  const instance = new TypedControl();
  for (const name of ["site", "chain", "new"]) {
    instance.world.files.set(`/etc/ssl/${name}.pem`, await instance.world.readFile(CERT_FILE));
    instance.world.files.set(`/etc/ssl/${name}.key`, await instance.world.readFile(KEY_FILE));
  }
  await instance.typeAll(...BASE);
  return instance;
}

/** The words that say what a line adds: `tcp-lb lb0`, `server s1 to server-group g0`. */
function subjectOf(line: string): string {
  const words = line.split(" ").slice(1);
  return words.slice(0, words[2] === "to" ? 5 : 2).join(" ");
}

const EXAMPLES = DESIRED_RESOURCES.flatMap(({ spec }) =>
  spec.scopes.flatMap(({ actions }) =>
    ACTIONS.flatMap((action) => actions[action]?.examples ?? []),
  ),
);

test.each(EXAMPLES.filter((line) => !line.startsWith("remove")))("%s works", async (line) => {
  const instance = await prepared();
  const subject = subjectOf(line);
  const isThere = BASE.some((base) => subjectOf(base) === subject);
  if (line.startsWith("add ") && isThere) await instance.type(`force-remove ${subject}`);
  await expect(instance.type(line)).resolves.toBeDefined();
});

test.each([
  [
    "update tcp-lb lb0 address 192.0.2.1:81",
    "address: can not be changed; expected none: remove it, and add it with another address",
  ],
  [
    "add server-group g9 weight 5",
    "weight: is not of the group itself, but of its place in an upstream; expected add server-group NAME to upstream NAME weight NUMBER (or update ... in upstream)",
  ],
  [
    "add dns-server dns9 address 192.0.2.9:53 upstream u0 ttl 86401",
    'ttl: "86401" is not valid; expected a whole number from 0 to 86400',
  ],
  [
    "add server s9 to server-group g0 address a.example:80 no-ipv4 no-ipv6",
    "no-ipv6: no address would be left to call with no-ipv4; expected one of the two",
  ],
  [
    "add server s9 to server-group g0 address 10.0.0.9:80 no-ipv6",
    "no-ipv6: is for a server that is given by its name; expected a host name as its address, or an IP address alone",
  ],
  [
    "add server-group g9 event-loop-group elg0",
    "event-loop-group: is not of a group: its connections are on the loops of the listeners that send to it, and one loop checks the servers of all groups, another one when that ends; expected event-loop-group of a listener",
  ],
  [
    "add server s9 to server-group g0 address unix:a.sock",
    'address: "a.sock" is not valid; expected the path of a unix socket: from / on, at most 107 bytes',
  ],
  [
    "add udp-lb ulb9 upstream u0 address unix:/run/a.sock",
    'address: "unix:/run/a.sock" is not valid; expected HOST:PORT or [IPV6]:PORT',
  ],
])("%s is refused with what is to be done", async (line, message) => {
  const instance = await prepared();
  expect(await instance.refusal(line)).toBe(`ERR_USAGE ${message}`);
});

test("all that commands can name is in the table once", () => {
  expect(RESOURCES.map(({ name }) => name).sort()).toEqual([...RESOURCE_NAMES].sort());
});

test("words for resources mean one each", () => {
  const words = RESOURCES.flatMap(({ name, shorts }) => [name, ...shorts]);
  expect(words.length).toBe(new Set(words).size);
});

test("every action of the table can be carried out, and no other", () => {
  for (const { spec, actions } of HANDLERS) {
    const told = new Set(spec.scopes.flatMap((scope) => Object.keys(scope.actions)));
    expect([spec.name, Object.keys(actions).sort()]).toEqual([spec.name, [...told].sort()]);
  }
});

test("parameters of an action have names and fields of their own", () => {
  for (const { spec } of HANDLERS) {
    for (const { actions } of spec.scopes) {
      for (const action of Object.values(actions)) {
        const { params } = action;
        expect(new Set(params.map(({ name }) => name)).size).toBe(params.length);
        expect(new Set(params.map(({ field }) => field)).size).toBe(params.length);
        for (const { help } of params) expect(help).not.toMatch(/\.$/);
      }
    }
  }
});

/** What holds where nothing is said, as the manual tells it, against what comes of saying nothing. */
test.each(
  [TCP_LBS, UDP_LBS, SOCKS5_SERVERS, DNS_SERVERS].map(
    (resource) => [resource.type, resource] as const,
  ),
)("the standards of %s are told as they are", (_type, { fields, standard }) => {
  for (const {
    specs: [spec, opposite],
    show,
  } of fields) {
    const value = show(standard);
    if (spec.kind === "integer" || spec.kind === "enum") expect(spec.standard).toBe(String(value));
    if (opposite !== undefined) {
      expect(spec.standard).toBe(value === true ? spec.name : opposite.name);
    }
  }
});

test("the standards of a server-group are told as they are", () => {
  for (const {
    specs: [spec],
    show,
  } of SERVER_GROUPS.fields) {
    const value = show(SERVER_GROUPS.standard);
    if (spec.kind === "integer" || spec.kind === "enum") expect(spec.standard).toBe(String(value));
    if (spec.name === "check-status") expect(spec.standard).toBe(String(value));
  }
});
