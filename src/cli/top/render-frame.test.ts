import { expect, test } from "vitest";
import { instanceStatus, listenerStatus, serverStatus } from "../status/status.fixture.ts";
import { NO_PAINT, TERMINAL_PAINT } from "../text/paint.ts";
import { type FrameView, renderFrame } from "./render-frame.ts";

function sample(atMs: number, factor: number) {
  return {
    atMs,
    status: instanceStatus({
      process: { cpuSeconds: factor / 4, memoryBytes: 80_000_000 },
      listeners: [
        listenerStatus("web", {
          connections: 3,
          totalConnections: 20 * factor,
          bytesIn: 4000 * factor,
          bytesOut: 90_000 * factor,
        }),
        listenerStatus("proxy", { mode: "socks5", address: "127.0.0.1:1080", failures: 1 }),
      ],
      groups: [
        {
          key: "default/web",
          owner: "control",
          method: "random",
          servers: [
            serverStatus("a", { totalConnections: 15 * factor, meanLatencyMs: 0.44 }),
            serverStatus("b", { totalConnections: 5 * factor, health: "down", reason: "refused" }),
          ],
        },
      ],
      loopGroups: [
        {
          backend: "userspace",
          name: "work",
          loops: [
            {
              name: "worker-1",
              channels: { connection: 6, "server-sock": 0 },
              cpuSeconds: 0.5 * factor,
            },
            { name: "worker-2", channels: { connection: 2 } },
          ],
        },
      ],
    }),
  };
}

const VIEW: FrameView = {
  now: sample(2000, 2),
  before: sample(1000, 1),
  sort: "connections",
  columns: 200,
  rows: undefined,
  paint: NO_PAINT,
  isLive: false,
};

const render = (change: Partial<FrameView> = {}) => renderFrame({ ...VIEW, ...change });

test("a frame with all there is", () => {
  expect(
    render().join("\n"),
  ).toBe(`portolan 1.2.3  healthy  CPU 25 %  memory 80.0 MB  up 3 min 12 s  node here  pid 4711

LISTENER  ADDRESS         MODE    OPEN  NEW/S    IN/S    OUT/S  FAILED
web       127.0.0.1:8080  http       3     20  4.0 kB  90.0 kB       0
proxy     127.0.0.1:1080  socks5     0      0     0 B      0 B       1

SERVER  ADDRESS         HEALTH  SHARE  LATENCY  OPEN  NEW/S  IN/S  OUT/S  FAILED  REASON
web/a   127.0.0.1:9001  up       75 %   0.4 ms     0     15   0 B    0 B       0
web/b   127.0.0.1:9001  down     25 %        -     0    5.0   0 B    0 B       0  refused

LOOP           CHANNELS   CPU
work/worker-1         6  50 %  ##########
work/worker-2         2     -`);
});

test("what is not honoured is counted, and the first of it told", () => {
  const component = { kind: "backend", name: "userspace", health: "ok", message: "", always: 1 };
  const frame = (...asked: readonly string[]) => {
    const components = [{ ...component, notHonoured: ["no SCTP", ...asked] }];
    const { now } = VIEW;
    return render({ now: { ...now, status: { ...now.status, components } } });
  };
  expect(frame()[1]).toBe("");
  expect(frame("a is taken").slice(1, 4)).toEqual([
    "not honoured of what is asked for: 1",
    "  userspace: a is taken",
    "",
  ]);
  expect(frame("a", "b", "c").slice(1, 5)).toEqual([
    "not honoured of what is asked for: 3 (portolan status shows all)",
    "  userspace: a",
    "  userspace: b",
    "",
  ]);
});

test("where the CPU of loops is not known their channels are compared", () => {
  const lines = render({ before: undefined });
  expect(lines.slice(-3).map((line) => line.replaceAll(/ +/g, " "))).toEqual([
    "LOOP CHANNELS SHARE",
    "work/worker-1 6 ###############",
    "work/worker-2 2 #####",
  ]);
});

test("the first frame knows no rates, but the shares of all that was", () => {
  const lines = render({ before: undefined });
  expect(lines[0]).toContain("CPU -");
  expect(lines[3]).toMatch(/^web .* 3 {6}- {5}- {6}- /);
  expect(lines.find((line) => line.startsWith("web/a"))).toContain("75 %");
});

test.each([
  ["name", ["proxy", "web"]],
  ["bytes", ["web", "proxy"]],
  ["failures", ["proxy", "web"]],
] as const)("sorted by %s", (sort, names) => {
  expect(
    render({ sort })
      .slice(3, 5)
      .map((line) => line.split(" ", 1)[0]),
  ).toEqual(names);
});

test.each([20, 40, 60, 80, 100])("no line is longer than %i columns, and names stay", (columns) => {
  const lines = render({ columns, isLive: true });
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
  expect(lines.join("\n")).toMatch(/\nLISTENER.*\nweb /);
  expect(lines.join("\n")).toContain("HEALTH");
});

test("colours take no room where a line is cut", () => {
  const lines = render({ columns: 30, paint: TERMINAL_PAINT });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with it
  const bare = lines.map((line) => line.replace(/\u001b\[\d+m/g, ""));
  expect(Math.max(...bare.map((line) => line.length))).toBeLessThanOrEqual(30);
});

test.each([1, 5, 10, 14, 16, 40])(
  "no more than %i lines, and what is left out is counted",
  (rows) => {
    const lines = render({ rows, isLive: true });
    expect(lines.length).toBeLessThanOrEqual(rows);
    if (rows === 14) expect(lines.join("\n")).toMatch(/and \d more/);
    if (rows === 40) expect(lines.join("\n")).not.toContain("more");
  },
);

test("a live frame says which keys there are", () => {
  expect(render({ isLive: true, sort: "new" }).at(-1)).toMatch(/^q ends; sorted by new: c conn/);
});
