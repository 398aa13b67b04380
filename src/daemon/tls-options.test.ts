import { expect, test } from "vitest";
import { identityFiles } from "../mesh/identity-files.ts";
import type { ApiSourceSpec } from "./instance-deps.ts";
import { parseSourceSpec } from "./source-spec.ts";
import { apiTlsOf } from "./tls-options.ts";

const IDENTITY = identityFiles("/state/identity");
const NONE = {
  apiClientTlsCert: undefined,
  apiClientTlsKey: undefined,
  apiClientTlsCa: undefined,
};
const GIVEN = { apiClientTlsCert: "c.pem", apiClientTlsKey: "k.pem", apiClientTlsCa: "a.pem" };

function specOf(text: string): ApiSourceSpec {
  const spec = parseSourceSpec(text);
  if (spec.kind !== "api") throw new TypeError(`${text} is no API`);
  return spec;
}

test.each([
  ["api:10.0.0.1:12090", IDENTITY.certFile],
  ["api:127.0.0.1:12090", IDENTITY.certFile],
  ["api:plain:10.0.0.1:12090", undefined],
  ["api:unix:/run/brain.sock", undefined],
])("with an identity, %s is shown %s", (source, certFile) => {
  const tls = apiTlsOf(specOf(source), { values: NONE, identity: IDENTITY });
  expect(tls?.certFile).toBe(certFile);
});

test.each([
  ["api:10.0.0.1:12090", "c.pem"],
  ["api:plain:10.0.0.1:12090", undefined],
  ["api:unix:/run/brain.sock", "c.pem"],
])("what the options name comes before an identity: %s is shown %s", (source, certFile) => {
  for (const identity of [undefined, IDENTITY]) {
    expect(apiTlsOf(specOf(source), { values: GIVEN, identity })?.certFile).toBe(certFile);
  }
});

test("without either there is no TLS", () => {
  expect(apiTlsOf(specOf("api:10.0.0.1:12090"), { values: NONE })).toBeUndefined();
});
