import { expect, test } from "vitest";
import { NO_PAINT } from "../text/paint.ts";
import { renderStatus } from "./render-status.ts";
import { instanceStatus, listenerStatus, serverStatus } from "./status.fixture.ts";

const STATUS = instanceStatus({
  components: [
    {
      kind: "source",
      name: "file:state.yaml",
      health: "ok",
      message: "9 objects",
      notHonoured: [],
      details: "3 events",
    },
    {
      kind: "backend",
      name: "userspace",
      health: "ok",
      message: "its own proxy",
      notHonoured: ["no SCTP", "port 80 is taken: Listener default/old"],
      always: 1,
    },
  ],
  listeners: [listenerStatus("web", { connections: 3, totalConnections: 1234, bytesIn: 2048 })],
  groups: [
    {
      key: "shop/web",
      owner: "",
      method: "random",
      servers: [
        serverStatus("a", { meanLatencyMs: 0.44 }),
        serverStatus("b", { health: "down", reason: "connection refused", failures: 2 }),
      ],
    },
  ],
  controllers: [
    {
      type: "resp-controller",
      name: "resp",
      address: "127.0.0.1:16309",
      hasSecret: false,
      connections: 1,
    },
    {
      type: "http-controller",
      name: "h1",
      address: "127.0.0.1:1",
      hasSecret: true,
      connections: 0,
      problem: "127.0.0.1:1 is in use",
    },
  ],
  journal: { path: "/journal.jsonl", bytes: 1200 },
});

const render = (all: boolean, status = STATUS) =>
  renderStatus({ now: { atMs: 0, status }, all, paint: NO_PAINT }).join("\n");

test("all of an instance", () => {
  expect(render(false)).toBe(`portolan 1.2.3, pid 4711, node here, up 3 min 12 s: healthy
state of revision 12, journal of 1.2 kB; memory 80.0 MB, CPU 1.3 s

PART     NAME             HEALTH  SAYS
source   file:state.yaml  ok      9 objects; 3 events
backend  userspace        ok      its own proxy

LISTENER  ADDRESS         MODE  SERVICE  OPEN  TOTAL      IN  OUT  FAILED  OWNER
web       127.0.0.1:8080  http  web         3   1.2k  2.0 kB  0 B       0  control

GROUP     SERVER  ADDRESS         HEALTH  WEIGHT  OPEN  TOTAL  FAILED  LATENCY  REASON
shop/web  a       127.0.0.1:9001  up          10     0      0       0   0.4 ms
shop/web  b       127.0.0.1:9001  down        10     0      0       2        -  connection refused

CONTROLLER       ADDRESS          SECRET                                 OPEN
resp-controller  127.0.0.1:16309  without a secret: this machine only       1
http-controller  127.0.0.1:1      with a secret                        closed

Not honoured of what is asked for:
  userspace: port 80 is taken: Listener default/old
  1 limit holds on this machine whatever is asked for: --all says more`);
});

test("a listener that is not served is shown as closed", () => {
  const listeners = [listenerStatus("tls", { problem: "Certificate default/c: no such file" })];
  expect(render(false, instanceStatus({ listeners }))).toMatch(/\ntls +127\S+ +http +web +closed /);
});

test("with all, also what holds whatever is asked for", () => {
  expect(render(true)).toContain("  userspace: no SCTP\n  userspace: port 80 is taken");
  expect(render(true)).not.toContain("--all");
});

test("an instance that is not well says why", () => {
  const status = instanceStatus({ ready: false, reasons: ["sync userspace: failed: no room"] });
  expect(render(false, status)).toMatch(
    /up 3 min 12 s: not healthy\n {2}sync userspace: failed: no room\nstate of revision 12, nothing is kept;/,
  );
});

test("with a sample before, what is new a second", () => {
  const before = { atMs: 0, status: instanceStatus({ listeners: [listenerStatus("web")] }) };
  const lines = renderStatus({
    now: { atMs: 1000, status: STATUS },
    before,
    all: false,
    paint: NO_PAINT,
  });
  expect(lines.join("\n")).toMatch(/TOTAL {2}NEW\/S .*\n.* 1\.2k {3}1\.2k /);
});

test("an instance without parts has only begun", () => {
  expect(render(false, instanceStatus({ components: [] }))).toMatch(/up 3 min 12 s: starting\n/);
});
