import { expect, test } from "vitest";
import { CoreError } from "../../core/errors.ts";
import { canonicalJson } from "../../core/model/hash.ts";
import { KINDS, type ModelObject } from "../../core/model/object.ts";
import { parseObject } from "../../core/model/parse.ts";
import { TypedControl } from "../typed.fixture.ts";

const EVERYTHING = `# A configuration of Portolan, a command a line; load it with: System: load FILE
add cert-key c0 cert /pem/site.pem,/pem/chain.pem key "/pem/site key"
add event-loop-group elg0
add event-loop el0 to event-loop-group elg0
add server-group g0 method least-connections timeout 500 hint-host a.example annotations {"team":"shop"}
add server-group shop/g0
add upstream u0
add server-group g0 to upstream u0 weight 5 hint-path /api
add server-group shop/g0 to upstream u0
add security-group secg0 default deny
add security-group-rule r0 to security-group secg0 network 10.0.0.0/8 protocol tcp port-range 80,90 default allow
add dns-server dns0 address 127.0.0.1:53 upstream u0 security-group secg0 forward-to 192.0.2.1 ttl 30
add tcp-lb lb0 address 0.0.0.0:80 upstream u0 cert-key c0 not-falls-back
add socks5-server s5 address 127.0.0.1:1080 upstream u0 allow-non-backend users /users
add udp-lb ulb0 address [::1]:53 upstream u0 event-loop-group elg0
add server s1 to server-group g0 address 10.0.0.1:80
add server s1 to server-group shop/g0 address db.example:5432 no-ipv6 weight 0
add server s2 to server-group shop/g0 address unix:/run/db.sock
add service web cluster-ips 10.96.0.1 ports http:80:8080/tcp,53/udp
add server-group g0 to service web
add service x type Plain ports 8080/tcp
add endpoint e1 to service web address 10.1.0.1 ports http=8080 not-ready
add endpoint e2 to service web address unix:/run/web.sock node n1
add resp-controller r0 address 127.0.0.1:16310 password-file "/etc/resp password"
add http-controller h0 address unix:/run/http.sock
`;

function objectsOf({ world }: TypedControl): readonly ModelObject[] {
  return KINDS.flatMap((kind) => [...world.store.objects(kind)]);
}

async function loaded(text: string): Promise<TypedControl> {
  const instance = new TypedControl();
  instance.world.files.set("/site.conf", text);
  await instance.type("System: load /site.conf");
  return instance;
}

test("a configuration is loaded as one change, and saved as it was", async () => {
  const instance = await loaded(EVERYTHING);
  expect(instance.world.commits).toHaveLength(1);
  expect(await instance.text("list config")).toBe(EVERYTHING);
  await instance.type("save /saved.conf");
  expect(instance.world.files.get("/saved.conf")).toBe(EVERYTHING);
});

test("loading what is there already changes nothing", async () => {
  const instance = await loaded(EVERYTHING);
  const { revision } = instance.control;
  await instance.type("load /site.conf");
  expect(instance.control.revision).toBe(revision);
  expect(instance.world.commits).toHaveLength(1);
});

test("loading adds to what is there; another definition of a name is refused by its line", async () => {
  const instance = await loaded("add upstream u0\nadd server-group g0 timeout 500\n");
  instance.world.files.set("/more.conf", "add upstream u1\nadd server-group g0 timeout 501\n");
  expect(await instance.refusal("load /more.conf")).toMatch(/^ERR_KEY_TAKEN \/more.conf:2: .*g0/);
  expect(await instance.names("list upstream")).toEqual(["u0"]);
});

test("all that is wrong with the lines is told at once, with where", async () => {
  const instance = new TypedControl();
  instance.world.files.set(
    "/a.conf",
    "add upstream u0\nadd nonsense x\n\n# fine\nload /b.conf\nlist upstream\n",
  );
  instance.world.files.set("/b.conf", "add tcp-lb lb0 address here\nshutdown\nSystem: set {]\n");
  const refusal = await instance.refusal("load /a.conf");
  expect(refusal).toMatch(/^ERR_USAGE \/a.conf:2: /);
  for (const place of [
    "/b.conf:1: address",
    "/b.conf:1: upstream",
    "/b.conf:2",
    "/b.conf:3",
    "/a.conf:6",
  ]) {
    expect(refusal).toContain(place);
  }
  expect(objectsOf(instance)).toEqual([]);
});

test("a file that loads itself is refused", async () => {
  const instance = new TypedControl();
  instance.world.files.set("/a.conf", "add upstream u0\nSystem: load /a.conf\n");
  expect(await instance.refusal("load /a.conf")).toMatch(/^ERR_USAGE .*8 files deep/);
});

test("what a configuration names may be missing: the note says so", async () => {
  const instance = new TypedControl();
  instance.world.files.set(
    "/site.conf",
    "add tcp-lb lb0 address 127.0.0.1:80 upstream u9 acceptor-elg elg9\n",
  );
  const result = await instance.type("load /site.conf");
  expect(result).toMatchObject({
    kind: "done",
    note: expect.stringMatching(
      /tcp-lb lb0 names upstream u9, tcp-lb lb0 names event-loop-group elg9/,
    ),
  });
});

test("changes and removals have their place in a configuration too", async () => {
  const instance = await loaded("add upstream u0\nadd upstream u1\n");
  instance.world.files.set(
    "/change.conf",
    "remove upstream u1\nadd server-group g0\nupdate server-group g0 method rr\nadd server-group g0 to upstream u0\n",
  );
  await instance.type("load /change.conf");
  expect(await instance.names("list upstream")).toEqual(["u0"]);
  expect(await instance.records("list-detail server-group")).toMatchObject([
    { method: "round-robin" },
  ]);
});

test("where the change fails, loops and controllers that were made for it go again", async () => {
  const instance = await loaded("add event-loop-group elg0\n");
  instance.world.files.set("/site.conf", EVERYTHING);
  instance.world.beforeCommit = async () => {
    throw new CoreError("ERR_LISTEN", "127.0.0.1:53 is taken");
  };
  expect(await instance.refusal("load /site.conf")).toBe("ERR_LISTEN 127.0.0.1:53 is taken");
  expect(instance.world.kept()).toEqual([{ kind: "event-loop-group", name: "elg0" }]);
  expect(await instance.names("list event-loop in event-loop-group elg0")).toEqual([]);
  expect(instance.world.controllers.list()).toEqual([]);
  expect(objectsOf(instance)).toEqual([]);
});

test("what no command can say is saved as it is, and loaded so", async () => {
  const instance = new TypedControl();
  const objects = [
    parseObject({ kind: "Group", name: "g0", labels: { team: "shop" } }),
    parseObject({ kind: "Group", name: "(odd)" }),
    parseObject({ kind: "Endpoint", name: "s1", group: "g0", addresses: ["10.0.0.1", "fd00::1"] }),
    parseObject({ kind: "Endpoint", name: "alone", group: "nowhere", addresses: ["10.0.0.1"] }),
    parseObject({ kind: "Node", name: "n1", addresses: ["10.0.0.1"] }),
    parseObject({
      kind: "Listener",
      name: "lb0",
      address: "127.0.0.1",
      port: 80,
      service: "default/u0",
      usersFile: "/users",
    }),
  ];
  await instance.world.commit({ set: objects, delete: [] });
  await instance.type("add server s2 to server-group g0 address 10.0.0.2:80");
  const text = await instance.text("list config");
  const lines = text.split("\n").filter((line) => line.startsWith("System: set "));
  expect(lines).toHaveLength(objects.length);
  const other = await loaded(text);
  const inOrder = (list: readonly ModelObject[]) => list.map(canonicalJson).sort();
  expect(inOrder(objectsOf(other))).toEqual(inOrder(objectsOf(instance)));
  expect(await other.text("list config")).toBe(text);
});

test("what other sources own is not saved", async () => {
  const instance = await loaded("add upstream u0\n");
  instance.world.store.transact("file", (transaction) => {
    transaction.set(parseObject({ kind: "Group", name: "g9" }));
  });
  expect(await instance.text("list config")).not.toContain("g9");
  instance.world.files.set("/more.conf", 'System: set {"kind":"Group","name":"g9"}\n');
  expect(await instance.refusal("load /more.conf")).toMatch(
    /^ERR_KEY_TAKEN \/more.conf:1: .*"file"/,
  );
});

test("a file that can not be read is told", async () => {
  const instance = new TypedControl();
  expect(await instance.refusal("load /nowhere.conf")).toMatch(/^ERR_STATE_UNREADABLE/);
});

test("an object in which a key stands twice is refused by its line", async () => {
  const line = 'System: set {"kind":"Group","name":"g0","name":"g1"}';
  await expect(loaded(`add upstream u0\n${line}\n`)).rejects.toThrow(
    /site\.conf:2: set\.name: the key is there twice; expected each key once/,
  );
});
