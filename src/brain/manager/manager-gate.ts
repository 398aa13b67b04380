import type { X509Certificate } from "node:crypto";
import type * as z from "zod";
import { CoreError } from "../../core/errors.ts";
import type { AnnouncementBook } from "../announcements/announcement-book.ts";
import { announcementMethods } from "../announcements/announcement-methods.ts";
import type { ApiGate, Caller } from "../api-gate.ts";
import { keyHashOf } from "../identity/key-hash.ts";
import { identityOf, SERVICE_KIND } from "../identity/spiffe-id.ts";
import { parseRequest as parse } from "../parse-request.ts";
import type { Manager } from "./manager.ts";
import {
  createTokenSchema,
  deploySchema,
  identifySchema,
  joinSchema,
  nothingSchema,
  reconcileSchema,
  removeNodeSchema,
  renewSchema,
  revokeTokenSchema,
  tableSchema,
  undeploySchema,
} from "./message-schemas.ts";

const MANAGER_SERVICE = "/managerv1.Manager/";
/** A node that was away for longer than its certificate is good can have a new one for so long. */
const OVERDUE_MS = 7 * 86_400_000;

interface NodeCaller {
  readonly name: string;
  /** PEM. */
  readonly publicKey: string;
}

type Method = (caller: Caller, request: unknown) => Promise<object>;

/** What nodes may ask of a manager, and what only those may who are on its machine. */
export function createManagerGate(
  manager: Manager,
  nowMs: () => number,
  announcements?: AnnouncementBook,
): ApiGate {
  const nodeOf = (caller: Caller): NodeCaller => memberOf(manager, caller, nowMs());
  const asNode =
    <T>(schema: z.ZodType<T>, act: (node: NodeCaller, request: T) => Promise<object>): Method =>
    async (caller, request) =>
      act(nodeOf(caller), parse(schema, request));
  const asLocal =
    <T>(schema: z.ZodType<T>, act: (request: T) => Promise<object>): Method =>
    async (caller, request) => {
      assertLocal(caller);
      return act(parse(schema, request));
    };
  const methods: Readonly<Record<string, Method>> = {
    Join: async (_, request) => manager.join(parse(joinSchema, request)),
    Identify: async (_, request) => manager.identify(parse(identifySchema, request)),
    Renew: async (caller, request) => {
      const { name, publicKey } = memberOf(manager, caller, nowMs(), OVERDUE_MS);
      return manager.renew(name, publicKey, parse(renewSchema, request));
    },
    Leave: asNode(nothingSchema, async ({ name }) => leave(manager, name)),
    Deploy: asNode(deploySchema, ({ name }, request) => manager.deploy(name, request)),
    Undeploy: asNode(undeploySchema, ({ name }, request) => manager.undeploy(name, request)),
    Reconcile: asNode(reconcileSchema, ({ name }, request) => manager.reconcile(name, request)),
    Table: async (caller, request) => {
      if (caller.kind !== "local") nodeOf(caller);
      return manager.table.find(parse(tableSchema, request).query);
    },
    RoundTrips: async (caller, request) => {
      if (caller.kind !== "local") nodeOf(caller);
      parse(nothingSchema, request);
      return { roundTrips: manager.roundTrips.list() };
    },
    CreateToken: asLocal(createTokenSchema, (request) => manager.tokens.create(request)),
    ListTokens: asLocal(nothingSchema, async () => ({ tokens: manager.tokens.list() })),
    RevokeToken: asLocal(revokeTokenSchema, (request) => manager.tokens.revoke(request)),
    RemoveNode: asLocal(removeNodeSchema, ({ node }) => leave(manager, node)),
  };
  const assertMaySpeak = (caller: Caller, service: string): void =>
    assertIsService(caller, service, nowMs());
  return {
    methods: new Map([
      ...Object.entries(methods).map(
        ([name, method]) => [`${MANAGER_SERVICE}${name}`, method] as const,
      ),
      ...(announcements === undefined ? [] : announcementMethods(announcements, assertMaySpeak)),
    ]),
    assertMayWatch: (caller, nodeName) => {
      if (caller.kind === "local") return;
      // Who speaks for a service has to know of all others.
      if (nodeName === undefined && serviceOf(caller, nowMs()) !== undefined) return;
      const { name } = nodeOf(caller);
      if (nodeName === name) return;
      throw new CoreError(
        "ERR_UNAUTHORIZED",
        `node ${name} may not follow ${nodeName === undefined ? "the whole state" : `node ${nodeName}`}; expected its own name`,
      );
    },
  };
}

async function leave(manager: Manager, node: string): Promise<object> {
  await manager.leave(node);
  return {};
}

/** What a certificate says; read once, as a node calls many times over one connection. */
interface Shown {
  readonly identity: ReturnType<typeof identityOf>;
  readonly endsMs: number;
  readonly keyHash: string;
  /** PEM. */
  readonly publicKey: string;
}

const shownBefore = new WeakMap<X509Certificate, Shown>();

function read(certificate: X509Certificate): Shown {
  const known = shownBefore.get(certificate);
  if (known !== undefined) return known;
  const { subjectAltName, validTo, publicKey } = certificate;
  const shown = {
    identity: identityOf(subjectAltName),
    endsMs: Date.parse(validTo),
    keyHash: keyHashOf(publicKey),
    publicKey: String(publicKey.export({ format: "pem", type: "spki" })),
  };
  shownBefore.set(certificate, shown);
  return shown;
}

/** A certificate is good for as long as its node belongs here, with that very key. */
function memberOf(manager: Manager, caller: Caller, nowMs: number, overdueMs = 0): NodeCaller {
  if (caller.kind !== "certified" && caller.kind !== "overdue") {
    throw new CoreError(
      "ERR_UNAUTHORIZED",
      "no certificate of this manager's authority was shown; expected that of a node that has joined",
    );
  }
  const { identity, endsMs, keyHash, publicKey } = read(caller.certificate);
  const isGood =
    identity?.kind === "node" &&
    endsMs + overdueMs > nowMs &&
    manager.isMember(identity.name, keyHash);
  if (!isGood) {
    throw new CoreError(
      "ERR_UNAUTHORIZED",
      `the certificate of ${identity?.name ?? "a stranger"} is not good any more; expected ${remedyFor(identity?.kind)}`,
    );
  }
  return { name: identity.name, publicKey };
}

function remedyFor(kind: string | undefined): string {
  return kind === SERVICE_KIND ? "a new one, which Identify gives" : "the node to join again";
}

/** The service whose identity a caller has shown; undefined where it has none, or not any more. */
function serviceOf(caller: Caller, nowMs: number): string | undefined {
  if (caller.kind !== "certified") return undefined;
  const { identity, endsMs } = read(caller.certificate);
  return identity?.kind === SERVICE_KIND && endsMs > nowMs ? identity.name : undefined;
}

function assertIsService(caller: Caller, service: string, nowMs: number): void {
  if (caller.kind === "local") return;
  const own = serviceOf(caller, nowMs);
  if (own === service) return;
  throw new CoreError(
    "ERR_UNAUTHORIZED",
    own === undefined
      ? "no certificate of a service was shown, or it has expired; expected one that Identify gave"
      : `service ${own} may not speak for ${service}; expected its own name`,
  );
}

function assertLocal(caller: Caller): void {
  if (caller.kind === "local") return;
  throw new CoreError(
    "ERR_UNAUTHORIZED",
    "this is for the manager's own machine only; expected its socket file",
  );
}
