import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { RESOURCES } from "../resources/table.ts";
import { TinyControl } from "../tiny-control.fixture.ts";
import { planEndpoints } from "./endpoints.ts";
import { createHealthWatch } from "./health-watch.ts";
import { HTTP_LIMITS } from "./limits.ts";
import { Router } from "./router.ts";

const PAGE = readFileSync(new URL("../../../docs/http-api.md", import.meta.url), "utf8");

test("every request that docs/http-api.md names is answered", () => {
  const control = Object.assign(new TinyControl(), { resources: RESOURCES });
  const watch = createHealthWatch(control, HTTP_LIMITS);
  const keepFile = async (path: string) => ({ path, release: async () => undefined });
  const router = new Router(planEndpoints({ control, watch, keepFile, status: () => ({}) }));
  const requests = [...PAGE.matchAll(/`(GET|POST|PUT|DELETE) (\/[^` ]*)`/g)];
  expect(requests.length).toBeGreaterThan(18);
  for (const [request, method = "", path = ""] of requests) {
    expect(router.find(method, path).kind, request).toBe("route");
  }
});

test("its limits are those of the code", () => {
  const limits = [
    HTTP_LIMITS.maxConnections,
    HTTP_LIMITS.maxInWork,
    HTTP_LIMITS.maxBodyBytes,
    HTTP_LIMITS.maxHeaderBytes,
    HTTP_LIMITS.maxWatchers,
    HTTP_LIMITS.maxWatcherBytes,
  ];
  for (const limit of limits) expect(PAGE).toContain(limit.toLocaleString("en"));
  expect(PAGE).toContain(`within ${HTTP_LIMITS.headersTimeoutMs / 1000} seconds`);
  expect(PAGE).toContain(`within ${HTTP_LIMITS.requestTimeoutMs / 1000} seconds`);
});
