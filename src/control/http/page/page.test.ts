import { createContext, runInContext, Script } from "node:vm";
import { expect, test } from "vitest";
import { PAGE } from "./page.ts";
import { PICTURE_SCRIPT } from "./picture-script.ts";
import { REFERENCE_SCRIPT } from "./reference-script.ts";

/** The plain functions of the page, as a browser would have them. */
function evaluate(expression: string, given: object = {}): unknown {
  const context = createContext({ URLSearchParams, given });
  const script = `"use strict";${PICTURE_SCRIPT}${REFERENCE_SCRIPT}`;
  // Through JSON, since lists of another context are not equal to ours.
  return JSON.parse(String(runInContext(`${script};JSON.stringify(${expression})`, context)));
}

const STATE = {
  "tcp-lb": [
    { name: "lb0", address: "0.0.0.0:80", backend: "u0", protocol: "http", connections: 1234 },
  ],
  "dns-server": [{ name: "dns0", address: "0.0.0.0:53", rrsets: "gone" }],
  upstream: [{ name: "u0", contains: { "server-group": [{ name: "g0", weight: 10 }] } }],
  service: [
    { name: "u0", contains: {} },
    {
      name: "web",
      contains: { endpoint: [{ name: "e0", address: "10.0.0.9:80", health: "unknown" }] },
    },
  ],
  "server-group": [
    {
      name: "g0",
      method: "wrr",
      contains: {
        server: [
          { name: "s1", address: "10.0.0.1:80", weight: 10, health: "up", latency: 1.23 },
          {
            name: "<s2>",
            address: "10.0.0.2:80",
            weight: 5,
            health: "down",
            reason: 'refused & "gone"',
          },
        ],
      },
    },
    { name: "lonely", contains: { server: [] } },
  ],
};

test("the picture shows what leads where", () => {
  const picture = evaluate("pictureOf(given, () => undefined)", STATE);
  expect(picture).toMatchObject({
    columns: [
      [{ id: "tcp-lb lb0" }, { id: "dns-server dns0" }],
      [{ title: "u0", note: "1 group" }, { title: "gone", state: "down" }, { title: "web" }],
      [
        { title: "g0", note: "wrr · 1 of 2 up", state: "up" },
        { title: "web", state: "idle" },
        { title: "lonely", state: "idle" },
      ],
      [{ state: "up" }, { state: "down", note: 'refused & "gone"' }, { state: "unknown" }],
    ],
    links: expect.arrayContaining([
      { from: "tcp-lb lb0", to: "backend u0", state: "plain" },
      { from: "backend u0", to: "group g0", state: "up" },
      { from: "group g0", to: "group g0/s1", state: "up" },
      { from: "dns-server dns0", to: "backend gone", state: "plain" },
    ]),
  });
});

test("names can not become markup", () => {
  const svg = String(evaluate("svgOf(layOut(pictureOf(given, () => undefined)))", STATE));
  expect(svg).toContain("&lt;s2&gt;");
  expect(svg).not.toContain("<s2>");
  expect(svg.match(/<g /g)).toHaveLength(11);
  expect(svg.match(/<path /g)).toHaveLength(7);
});

test("boxes of one column do not overlap", () => {
  const overlaps = evaluate(
    `((places) => places.filter((one) => places.some((other) =>
      other !== one && other.x === one.x && Math.abs(other.y - one.y) < BOX.height)).length
    )([...layOut(pictureOf(given, () => undefined)).places.values()])`,
    STATE,
  );
  expect(overlaps).toBe(0);
});

test("a large state is cut, and says so", () => {
  const servers = Array.from({ length: 500 }, (_, index) => ({ name: `s${index}`, health: "up" }));
  const state = { "server-group": [{ name: "g0", contains: { server: servers } }] };
  expect(evaluate("svgOf(layOut(pictureOf(given, () => undefined)))", state)).toContain(
    "and 420 more",
  );
  expect(evaluate("figuresOf(given).map(({ value }) => value)", state)).toEqual([
    0,
    "0",
    1,
    "500 of 500",
  ]);
});

test("nothing at all is a picture as well", () => {
  expect(evaluate("svgOf(layOut(pictureOf(given, () => undefined)))")).toContain("<svg");
});

test("amounts are short", () => {
  const shown = evaluate("[0, 7, 1234, 1500000].map((one) => [amount(one), amount(one, 'B/s')])");
  expect(shown).toEqual([
    ["0", "0 B/s"],
    ["7", "7 B/s"],
    ["1.2k", "1.2 kB/s"],
    ["1.5M", "1.5 MB/s"],
  ]);
});

test("a filled form is a request, and a line for the shell", () => {
  const fields = [
    { in: "path", name: "tcp-lb", value: "ns/lb 0" },
    { in: "query", name: "force", value: true },
    { in: "header", name: "If-Match", value: '"t.1.x"' },
  ];
  const request = evaluate("requestOf('delete', '/m/{tcp-lb}', given.fields, undefined)", {
    fields,
  });
  expect(request).toEqual({
    method: "DELETE",
    url: "/m/ns%2Flb%200?force=true",
    headers: { "if-match": '"t.1.x"' },
  });
  const body = `{"name":"it's"}`;
  const line = evaluate("curlOf(requestOf('post', '/m', [], given.body), 'http://h', true)", {
    body,
  });
  expect(line).toBe(
    `curl -X POST -H "authorization: Bearer $TOKEN" -H 'content-type: application/json' -d '{"name":"it'\\''s"}' 'http://h/m'`,
  );
});

test("the page holds all it needs, and its policy allows nothing else", () => {
  const { body = "", headers } = PAGE;
  expect(body).not.toMatch(/(?:src|href)="https?:/);
  expect(body).not.toMatch(/ style="| on[a-z]+="/);
  const [, script = "", ...more] = body.split(/<\/?script>/);
  expect(more).toHaveLength(1);
  expect(() => new Script(script)).not.toThrow();
  const policy = headers["content-security-policy"] ?? "";
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain("unsafe");
});
