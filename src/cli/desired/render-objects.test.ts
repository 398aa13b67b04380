import { load, loadAll } from "js-yaml";
import { expect, test } from "vitest";
import { parseKind } from "../../core/model/parse.ts";
import { parseState } from "../../sources/file/parse-state.ts";
import { NO_PAINT } from "../text/paint.ts";
import { renderJson, renderTables, renderYaml } from "./render-objects.ts";

const WEB = parseKind("Service", {
  name: "web",
  type: "Plain",
  groups: [{ group: "default/g", weight: 2 }],
});
const API = parseKind("Service", {
  name: "api",
  namespace: "shop",
  clusterIPs: ["10.96.0.1"],
  ports: [{ port: 80, nodePort: 30080 }],
});
const EMPTY = parseKind("Service", {
  name: "none",
  type: "Plain",
  groups: [{ group: "default/(none)", weight: 0 }],
});
const LISTENER = parseKind("Listener", {
  name: "web",
  address: "::1",
  port: 443,
  service: "default/web",
  mode: "http",
  tls: { certificates: ["default/c"] },
});
const SERVER = parseKind("Endpoint", {
  name: "a",
  group: "g",
  addresses: ["10.0.0.1"],
  ports: [{ port: 80 }],
});
const NAMED = parseKind("Endpoint", {
  name: "b",
  group: "g",
  hostName: "b.example",
  ports: [
    { name: "x", port: 1 },
    { name: "y", port: 2 },
  ],
  ready: false,
});

const owned = [WEB, API, EMPTY, LISTENER, SERVER, NAMED].map((object) => ({
  owner: "control",
  object,
}));

test("a table for each kind that is there, names as they are typed", () => {
  expect(
    renderTables(owned, NO_PAINT),
  ).toBe(`SERVICE   TYPE       ADDRESSES  PORTS         GROUPS  OWNER
web       Plain                               g*2     control
shop/api  ClusterIP  10.96.0.1  80/tcp@30080          control
none      Plain                                       control

LISTENER  ADDRESS    MODE  SERVICE  TLS  OWNER
web       [::1]:443  http  web      c    control

ENDPOINT  ADDRESS            WEIGHT  READY  NODE  OWNER
g/a       10.0.0.1:80             1  yes          control
g/b       b.example,x=1,y=2       1  no           control
`);
});

test.each([
  ["YAML", renderYaml],
  ["JSON", renderJson],
])("%s is read again as the same objects", (_, render) => {
  const bytes = Buffer.from(render(owned));
  const { objects } = parseState([{ name: "again", bytes }]);
  expect(objects).toEqual([WEB, API, EMPTY, LISTENER, SERVER, NAMED]);
});

test("the owner is told in YAML", () => {
  expect(renderYaml(owned.slice(0, 1))).toMatch(/^---\n# owner: control\nkind: Service\n/);
  expect(loadAll(renderYaml(owned))).toHaveLength(6);
  expect(load(renderJson(owned))).toMatchObject({ version: 1 });
});
