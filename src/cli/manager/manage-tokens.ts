import * as z from "zod";
import { CoreError } from "../../core/errors.ts";
import type { CommandInput } from "../command-spec.ts";
import { EXIT_OK } from "../exit-codes.ts";
import { JSON_OPTION, resolveFlags } from "../flags.ts";
import { paintFor } from "../text/paint.ts";
import { renderTable } from "../text/render-table.ts";
import { askManager } from "./ask-manager.ts";
import { TOKEN_OPTIONS } from "./token-options.ts";

const createdSchema = z.object({ id: z.string(), token: z.string() });

const listSchema = z.object({
  tokens: z.array(
    z.object({
      id: z.string(),
      createdMs: z.number(),
      expiresMs: z.number(),
      usesLeft: z.number(),
      note: z.string(),
      service: z.string(),
    }),
  ),
});

/** `manager token create|list|revoke ID`. */
export async function manageTokens(words: readonly string[], input: CommandInput): Promise<number> {
  const [verb = "list", id, ...rest] = words;
  const isWhole = rest.length === 0 && (verb === "revoke") === (id !== undefined);
  if (isWhole && verb === "create") return create(input);
  if (isWhole && verb === "list") return list(input);
  if (id !== undefined && isWhole) return revoke(id, input);
  throw new CoreError(
    "ERR_USAGE",
    `"token ${words.join(" ")}" is not understood; expected token create, token list or token revoke ID`,
  );
}

async function create(input: CommandInput): Promise<number> {
  const {
    lifetime: lifetimeMs,
    uses = -1,
    note,
    service: said,
  } = resolveFlags(TOKEN_OPTIONS, input);
  const service = said === "" || said.includes("/") ? said : `default/${said}`;
  const { json } = resolveFlags(JSON_OPTION, input);
  const answer = await askManager(input, "CreateToken", { lifetimeMs, uses, note, service });
  const created = createdSchema.parse(answer);
  // Alone on its line: `portolan manager token create > token`.
  input.context.stdout.write(json ? `${JSON.stringify(created)}\n` : `${created.token}\n`);
  return EXIT_OK;
}

async function list(input: CommandInput): Promise<number> {
  const { json } = resolveFlags(JSON_OPTION, input);
  const { stdout } = input.context;
  const { tokens } = listSchema.parse(await askManager(input, "ListTokens", {}));
  if (json) {
    stdout.write(`${JSON.stringify(tokens)}\n`);
    return EXIT_OK;
  }
  const columns = ["ID", "CREATED", "EXPIRES", "USES LEFT", "FOR", "NOTE"].map((title) => ({
    title,
  }));
  const rows = tokens.map(({ id, createdMs, expiresMs, usesLeft, note, service }) => [
    id,
    new Date(createdMs).toISOString(),
    new Date(expiresMs).toISOString(),
    usesLeft < 0 ? "any" : String(usesLeft),
    service === "" ? "nodes" : service,
    note,
  ]);
  const lines = renderTable(columns, rows, paintFor(input.context));
  stdout.write(lines.map((line) => `${line}\n`).join(""));
  return EXIT_OK;
}

async function revoke(id: string, input: CommandInput): Promise<number> {
  await askManager(input, "RevokeToken", { id });
  return EXIT_OK;
}
