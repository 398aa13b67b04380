import { expect, test } from "vitest";
import { Lease } from "./lease.ts";
import { clientOf, type ScriptedCall, scriptEtcd } from "./scripted-etcd.fixture.ts";

const UNKNOWN = 2;
const LEASE = { ID: "77", TTL: 60 };

/** Time that passes when somebody sleeps, and not else. */
function napping(): { readonly naps: number[]; readonly sleep: () => Promise<void> } {
  const naps: number[] = [];
  return {
    naps,
    sleep: async (...[ms]: readonly unknown[]) => {
      naps.push(Number(ms));
    },
  };
}

async function grant(renew: (call: ScriptedCall, count: number) => void) {
  const asked: string[] = [];
  let renewals = 0;
  const { port } = await scriptEtcd((call) => {
    asked.push(`${call.method} ${String(call.request["ID"] ?? call.request["TTL"])}`);
    if (call.method === "LeaseGrant") call.reply(LEASE);
    else if (call.method === "LeaseRevoke") call.reply({});
    else {
      renewals += 1;
      renew(call, renewals);
    }
  });
  const { naps, sleep } = napping();
  const lease = await Lease.grant(clientOf([port], { sleep }), 60);
  return { lease, asked, naps };
}

test("a lease is renewed three times within its time, until etcd has ended it", async () => {
  const { lease, asked, naps } = await grant((call, count) =>
    call.reply(count < 4 ? LEASE : { ID: "77", TTL: 0 }),
  );
  expect([lease.id, lease.ttlSeconds]).toEqual([77n, 60]);
  await expect(lease.lost).rejects.toMatchObject({
    code: "ERR_LEASE_LOST",
    message: "the lease 4d is lost: etcd has ended it",
  });
  const renewals = ["LeaseKeepAlive 77", "LeaseKeepAlive 77", "LeaseKeepAlive 77"];
  expect(asked).toEqual(["LeaseGrant 60", ...renewals, "LeaseKeepAlive 77"]);
  expect(naps.slice(1)).toEqual([20_000, 20_000, 20_000]);
  expect(naps[0]).toBeLessThanOrEqual(20_000);
});

test("a renewal that is refused for once is tried again soon", async () => {
  const { lease, naps } = await grant((call, count) => {
    if (count === 1) call.fail(UNKNOWN, "etcdserver: lease not found");
    else call.reply(count === 2 ? LEASE : { ID: "77", TTL: 0 });
  });
  await expect(lease.lost).rejects.toMatchObject({ code: "ERR_LEASE_LOST" });
  expect(naps.slice(1)).toEqual([200, 20_000]);
});

test("one that is abandoned is neither renewed nor ended", async () => {
  const { lease, asked } = await grant(() => undefined);
  lease.abandon();
  await expect(lease.lost).rejects.toMatchObject({ code: "ERR_ABORTED" });
  expect(asked).toEqual(["LeaseGrant 60"]);
});

test("one that is revoked is ended at etcd once, and not lost", async () => {
  const { lease, asked } = await grant(() => undefined);
  await lease.revoke();
  await lease.revoke();
  expect(asked.filter((line) => line.startsWith("LeaseRevoke"))).toEqual(["LeaseRevoke 77"]);
});
