import type * as z from "zod";
import { CoreError } from "../../core/errors.ts";
import { problemsError } from "../../core/model/problems.ts";
import { checkAgainst } from "../../core/model/zod-problems.ts";
import type { ApiGate, Caller } from "../api-gate.ts";
import { keyHashOf } from "../identity/key-hash.ts";
import { identityOf } from "../identity/spiffe-id.ts";
import type { Manager } from "./manager.ts";
import {
  createTokenSchema,
  deploySchema,
  joinSchema,
  nothingSchema,
  removeNodeSchema,
  renewSchema,
  revokeTokenSchema,
  tableSchema,
  undeploySchema,
} from "./message-schemas.ts";

const MANAGER_SERVICE = "/managerv1.Manager/";

interface NodeCaller {
  readonly name: string;
  /** PEM. */
  readonly publicKey: string;
}

type Method = (caller: Caller, request: unknown) => Promise<object>;

/** What nodes may ask of a manager, and what only those may who are on its machine. */
export function createManagerGate(manager: Manager, nowMs: () => number): ApiGate {
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
    Renew: asNode(renewSchema, ({ name, publicKey }, request) =>
      manager.renew(name, publicKey, request),
    ),
    Leave: asNode(nothingSchema, async ({ name }) => leave(manager, name)),
    Deploy: asNode(deploySchema, ({ name }, request) => manager.deploy(name, request)),
    Undeploy: asNode(undeploySchema, ({ name }, request) => manager.undeploy(name, request)),
    Table: async (caller, request) => {
      if (caller.kind !== "local") nodeOf(caller);
      return manager.table.find(parse(tableSchema, request).query);
    },
    CreateToken: asLocal(createTokenSchema, (request) => manager.tokens.create(request)),
    ListTokens: asLocal(nothingSchema, async () => ({ tokens: manager.tokens.list() })),
    RevokeToken: asLocal(revokeTokenSchema, (request) => manager.tokens.revoke(request)),
    RemoveNode: asLocal(removeNodeSchema, ({ node }) => leave(manager, node)),
  };
  return {
    methods: new Map(
      Object.entries(methods).map(([name, method]) => [`${MANAGER_SERVICE}${name}`, method]),
    ),
    assertMayWatch: (caller, nodeName) => {
      if (caller.kind === "local") return;
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

function parse<T>(schema: z.ZodType<T>, request: unknown): T {
  const checked = checkAgainst(schema, request);
  if (checked.ok) return checked.value;
  throw problemsError("ERR_STATE_INVALID", checked.problems);
}

/** A certificate is good for as long as its node belongs here, with that very key. */
function memberOf(manager: Manager, caller: Caller, nowMs: number): NodeCaller {
  if (caller.kind !== "certified") {
    throw new CoreError(
      "ERR_UNAUTHORIZED",
      "no certificate of this manager's authority was shown; expected that of a node that has joined",
    );
  }
  const { certificate } = caller;
  const identity = identityOf(certificate.subjectAltName);
  const isGood =
    identity?.kind === "node" &&
    Date.parse(certificate.validTo) > nowMs &&
    manager.isMember(identity.name, keyHashOf(certificate.publicKey));
  if (!isGood) {
    throw new CoreError(
      "ERR_UNAUTHORIZED",
      `the certificate of ${identity?.name ?? "a stranger"} is not good any more; expected the node to join again`,
    );
  }
  const publicKey = String(certificate.publicKey.export({ format: "pem", type: "spki" }));
  return { name: identity.name, publicKey };
}

function assertLocal(caller: Caller): void {
  if (caller.kind === "local") return;
  throw new CoreError(
    "ERR_UNAUTHORIZED",
    "this is for the manager's own machine only; expected its socket file",
  );
}
