import { expect, test } from "vitest";
import { Router } from "./router.ts";

const PATHS = [
  ["GET", "/"],
  ["GET", "/module/all"],
  ["GET", "/module/{type}"],
  ["POST", "/module/cert-key/pem"],
  ["GET", "/module/cert-key/{cert-key}"],
  ["PUT", "/module/cert-key/{cert-key}"],
  ["GET", "/module/{group}/server/{server}"],
] as const;

const router = new Router(PATHS.map(([method, path]) => ({ method, path })));

function find(method: string, path: string): unknown {
  const found = router.find(method, path);
  if (found.kind !== "route") return found;
  return [found.route.path, Object.fromEntries(found.names)];
}

test("finds routes with the names in their paths", () => {
  expect(find("GET", "/")).toEqual(["/", {}]);
  expect(find("GET", "/module/g0/server/s1")).toEqual([
    "/module/{group}/server/{server}",
    { group: "g0", server: "s1" },
  ]);
});

test("a word that is written out goes before a name", () => {
  expect(find("GET", "/module/all")).toEqual(["/module/all", {}]);
  expect(find("GET", "/module/other")).toEqual(["/module/{type}", { type: "other" }]);
});

test("a name that is also a word elsewhere is reached by its own methods", () => {
  expect(find("POST", "/module/cert-key/pem")).toEqual(["/module/cert-key/pem", {}]);
  expect(find("PUT", "/module/cert-key/pem")).toEqual([
    "/module/cert-key/{cert-key}",
    { "cert-key": "pem" },
  ]);
});

test("escapes are read after the path is cut", () => {
  expect(find("GET", "/module/a%2Fb/server/%C3%A4")).toEqual([
    "/module/{group}/server/{server}",
    { group: "a/b", server: "ä" },
  ]);
});

test("HEAD is answered as GET", () => {
  expect(find("HEAD", "/module/all")).toEqual(["/module/all", {}]);
});

test("other methods of a known path are told", () => {
  expect(find("DELETE", "/module/cert-key/pem")).toEqual({
    kind: "other methods",
    methods: ["GET", "HEAD", "POST", "PUT"],
  });
});

test("what is not there is unknown, what can not be decoded malformed", () => {
  for (const path of ["/modul", "/module/", "/module/a/server", "/module//server/s1", "", "x"]) {
    expect(find("GET", path)).toEqual({ kind: "unknown" });
  }
  for (const path of ["/module/%", "/module/%ff", "/module/%zz"]) {
    expect(find("GET", path)).toEqual({ kind: "malformed" });
  }
});

test("a route can stand only once", () => {
  const twice = [
    { method: "GET", path: "/a/{x}" },
    { method: "GET", path: "/a/{y}" },
  ];
  expect(() => new Router(twice)).toThrow("two routes are GET /a/{y}");
});
