import { X509Certificate } from "node:crypto";
import { beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { Authority, createAuthority } from "../identity/authority.ts";
import { ServerIdentity } from "./server-identity.ts";

const HOUR_MS = 3_600_000;
const silent = (): void => undefined;
let authority: Authority;

beforeAll(async () => {
  authority = await Authority.open(await createAuthority("portolan", Date.now()));
});

async function start(lifetimeMs: number, by: Authority = authority) {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  const errors: string[] = [];
  const log = {
    debug: silent,
    info: silent,
    warn: silent,
    error: (_: object, text: string) => void errors.push(text),
  };
  const identity = await ServerIdentity.create({
    authority: by,
    hosts: ["manager.example", "192.0.2.1", "2001:db8::1"],
    lifetimeMs,
    nowMs: () => Date.now(),
    log,
  });
  onTestFinished(() => {
    identity.close();
    vi.useRealTimers();
  });
  return { identity, errors };
}

function certificateOf({ current }: ServerIdentity): X509Certificate {
  return new X509Certificate(current().cert);
}

/** The signature is made on another thread. */
function renewed({ onRenewed }: ServerIdentity): Promise<void> {
  return new Promise((resolve) => onRenewed(resolve));
}

test("its certificate has all names, and the authority's comes along", async () => {
  const { identity } = await start(HOUR_MS);
  const own = certificateOf(identity);
  expect(own.subjectAltName).toMatch(/DNS:manager.example.*IP Address:192.0.2.1/);
  const { cert, ca } = identity.current();
  expect(own.verify(new X509Certificate(ca).publicKey)).toBe(true);
  expect(cert.match(/BEGIN CERTIFICATE/g)).toHaveLength(2);
});

test("it is renewed at two thirds of its life, with the same key, and again", async () => {
  const { identity } = await start(HOUR_MS);
  const first = certificateOf(identity);
  const { key } = identity.current();
  for (let turn = 1; turn <= 2; turn += 1) {
    const done = renewed(identity);
    await vi.advanceTimersByTimeAsync((HOUR_MS * 2) / 3 - 1);
    const before = certificateOf(identity);
    await vi.advanceTimersByTimeAsync(1);
    await done;
    const after = certificateOf(identity);
    expect(after.serialNumber).not.toBe(before.serialNumber);
    expect(Date.parse(after.validTo)).toBeGreaterThan(Date.parse(before.validTo));
  }
  expect(identity.current().key).toBe(key);
  expect(certificateOf(identity).publicKey.equals(first.publicKey)).toBe(true);
});

test.each([
  ["forward", 48 * HOUR_MS],
  ["back", -48 * HOUR_MS],
])("it is good again soon after the clock was set %s", async (_, byMs) => {
  const { identity } = await start(24 * HOUR_MS);
  const done = renewed(identity);
  vi.setSystemTime(Date.now() + byMs);
  await vi.advanceTimersByTimeAsync(61_000);
  await done;
  const { validFrom, validTo } = certificateOf(identity);
  expect(Date.parse(validFrom)).toBeLessThan(Date.now());
  expect(Date.parse(validTo)).toBeGreaterThan(Date.now() + 23 * HOUR_MS);
});

test("one that can not be renewed goes on, and is tried again soon", async () => {
  let fails = false;
  const failing = new Proxy(authority, {
    get: (target, name) => {
      if (name === "sign" && fails) return () => Promise.reject(new Error("no room"));
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const { identity, errors } = await start(HOUR_MS, failing);
  const before = certificateOf(identity).serialNumber;
  fails = true;
  await vi.advanceTimersByTimeAsync((HOUR_MS * 2) / 3);
  expect(errors).toEqual(["the manager's certificate: no room"]);
  expect(certificateOf(identity).serialNumber).toBe(before);
  fails = false;
  const done = renewed(identity);
  await vi.advanceTimersByTimeAsync(10_000);
  await done;
  expect(certificateOf(identity).serialNumber).not.toBe(before);
});
