import { expect, test } from "vitest";
import { eachSplit } from "../../../test/support/each-split.ts";
import { groupSchema } from "../../core/model/group.ts";
import { type CheckPlan, planCheck, TCP_DELAY_HOLD_MS } from "./check-plan.ts";
import { type CheckObservation, evaluateCheck } from "./evaluate-check.ts";
import { HttpCheckReader } from "./http-check-reader.ts";

const TARGET = { address: "fd00::1", port: 8080 };

function planOf(check: Record<string, unknown>, target = TARGET): CheckPlan {
  const healthCheck = { timeoutMs: 300, ...check };
  const group = groupSchema.parse({ kind: "Group", name: "web", healthCheck });
  return planCheck(group.healthCheck, target);
}

const TCP = planOf({ protocol: "tcp" });
const DELAY = planOf({ protocol: "tcpDelay" });
const TALK: CheckPlan = {
  ...{ kind: "talk", timeoutMs: 300 },
  talk: { first: Buffer.alloc(0), feed: () => ({ kind: "more" }) },
};
const HTTP = planOf({ protocol: "http" });
const DNS = planOf({ protocol: "dns", dnsName: "a.example" });

test("an HTTP check asks for what was configured", () => {
  const plan = planOf({
    protocol: "http",
    http: { method: "HEAD", path: "/up", host: "a.example" },
  });
  expect(plan.kind === "http" && plan.request.toString()).toBe(
    "HEAD /up HTTP/1.1\r\nHost: a.example\r\nUser-Agent: portolan-check\r\nAccept: */*\r\nConnection: close\r\n\r\n",
  );
  expect(HTTP.kind === "http" && HTTP.request.toString()).toContain(
    "GET / HTTP/1.1\r\nHost: [fd00::1]:8080\r\n",
  );
  const unix = planOf({ protocol: "http" }, { address: "/run/a.sock", port: 0 });
  expect(unix.kind === "http" && unix.request.toString()).toContain("Host: localhost\r\n");
});

test("the other checks say what to do", () => {
  expect(planOf({ protocol: "none" })).toEqual({ kind: "none" });
  expect(TCP).toEqual({ kind: "tcp", timeoutMs: 300 });
  expect(DELAY).toEqual({ kind: "tcpDelay", timeoutMs: 300, holdMs: TCP_DELAY_HOLD_MS });
  expect(DNS).toEqual({ kind: "dns", timeoutMs: 300, name: "a.example", needsAnswer: true });
  expect(planOf({ protocol: "dns" })).toMatchObject({ name: ".", needsAnswer: false });
});

test.each<[string, CheckPlan, CheckObservation, boolean | undefined]>([
  ["none", { kind: "none" }, { kind: "timed-out" }, true],
  ["tcp, connected", TCP, { kind: "connected" }, true],
  ["tcp, refused", TCP, { kind: "failed", error: "ECONNREFUSED" }, false],
  ["tcp, timed out", TCP, { kind: "timed-out" }, false],
  ["tcpDelay, connected", DELAY, { kind: "connected" }, undefined],
  ["tcpDelay, held", DELAY, { kind: "held" }, true],
  ["tcpDelay, bytes", DELAY, { kind: "bytes" }, true],
  ["tcpDelay, closed", DELAY, { kind: "closed" }, false],
  ["talk, connected", TALK, { kind: "connected" }, undefined],
  ["talk, to its end", TALK, { kind: "talked" }, true],
  ["talk, not to its end", TALK, { kind: "misunderstood", reason: "x" }, false],
  ["talk, closed", TALK, { kind: "closed" }, false],
  ["http, connected", HTTP, { kind: "connected" }, undefined],
  ["http, 204", HTTP, { kind: "http-status", status: 204 }, true],
  ["http, 404", HTTP, { kind: "http-status", status: 404 }, true],
  ["http, 500", HTTP, { kind: "http-status", status: 500 }, false],
  ["http, closed", HTTP, { kind: "closed" }, false],
  ["http, something else", HTTP, { kind: "not-http", reason: "x" }, false],
  ["dns, address", DNS, { kind: "dns-answer", rcode: 0, answers: 1 }, true],
  ["dns, no address", DNS, { kind: "dns-answer", rcode: 0, answers: 0 }, false],
  ["dns, NXDOMAIN", DNS, { kind: "dns-answer", rcode: 3, answers: 0 }, false],
  [
    "dns root, REFUSED",
    planOf({ protocol: "dns" }),
    { kind: "dns-answer", rcode: 5, answers: 0 },
    true,
  ],
  [
    "dns root, SERVFAIL",
    planOf({ protocol: "dns" }),
    { kind: "dns-answer", rcode: 2, answers: 0 },
    false,
  ],
])("%s", (_name, plan, observation, expected) => {
  const result = evaluateCheck(plan, observation);
  expect(result?.ok).toBe(expected);
  if (result?.ok === false) expect(result.reason).not.toBe("");
});

test("an interim status that is not wanted is waited through", () => {
  const plan = planOf({ protocol: "http", http: { status: ["2xx", "301"] } });
  const judge = (status: number) => evaluateCheck(plan, { kind: "http-status", status })?.ok;
  expect([103, 200, 301, 302].map(judge)).toEqual([undefined, true, true, false]);
});

test("the answer to an HTTP check is read however it is cut", () => {
  const answer = Buffer.from(
    "HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 503 Busy\r\nA: b\r\n\r\nbody\r\n\r\n",
  );
  for (const parts of eachSplit(answer)) {
    const reader = new HttpCheckReader();
    const seen: CheckObservation[] = [];
    for (const part of parts) if (seen.length < 2) seen.push(...reader.feed(part));
    expect(seen).toEqual([
      { kind: "http-status", status: 103 },
      { kind: "http-status", status: 503 },
    ]);
  }
});

test("what is not HTTP is told as such, and without end it is not kept", () => {
  expect(new HttpCheckReader().feed(Buffer.from("SSH-2.0-x\r\n\r\n"))[0]?.kind).toBe("not-http");
  const reader = new HttpCheckReader();
  const seen: CheckObservation[] = [];
  for (let n = 0; n < 20 && seen.length === 0; n++)
    seen.push(...reader.feed(Buffer.alloc(1024, "x")));
  expect(seen).toEqual([{ kind: "not-http", reason: "the head is larger than the limit" }]);
});
