import * as z from "zod";
import { CoreError } from "../../core/errors.ts";
import type { CommandInput } from "../command-spec.ts";
import { EXIT_FAILED, EXIT_OK } from "../exit-codes.ts";
import { JSON_OPTION, resolveFlags } from "../flags.ts";
import { paintFor } from "../text/paint.ts";
import { renderTable } from "../text/render-table.ts";
import { askManager } from "./ask-manager.ts";

const tunnelSchema = z.object({ address: z.string() }).optional();

const answerSchema = z.object({
  services: z.array(
    z.object({
      service: z.string(),
      edgeIPs: z.array(z.object({ address: z.string(), policy: z.string(), instance: z.number() })),
      instances: z.array(
        z.object({
          instance: z.number(),
          addresses: z.array(z.string()),
          node: z.string(),
          ready: z.boolean(),
          tunnel: tunnelSchema,
        }),
      ),
    }),
  ),
  nodes: z.array(
    z.object({
      node: z.string(),
      isAlive: z.boolean(),
      addresses: z.array(z.string()),
      subnets: z.array(z.string()),
      tunnel: tunnelSchema,
    }),
  ),
});

type Answer = z.output<typeof answerSchema>;

/** `manager table NAME|IP`: what it means. The exit code is 1 where it means nothing. */
export async function showTable(words: readonly string[], input: CommandInput): Promise<number> {
  const [query, ...rest] = words;
  if (query === undefined || rest.length > 0) {
    throw new CoreError("ERR_USAGE", "expected manager table NAME|IP, with one of them");
  }
  const { json } = resolveFlags(JSON_OPTION, input);
  const { context } = input;
  const raw = await askManager(input, "Table", { query });
  const answer = answerSchema.parse(raw);
  const isEmpty = answer.services.length + answer.nodes.length === 0;
  if (json) context.stdout.write(`${JSON.stringify(raw)}\n`);
  else if (isEmpty) context.stderr.write(`portolan: note: ${query} means nothing here\n`);
  else
    context.stdout.write(
      render(answer, input)
        .map((line) => `${line}\n`)
        .join(""),
    );
  return isEmpty ? EXIT_FAILED : EXIT_OK;
}

function render({ services, nodes }: Answer, { context }: CommandInput): readonly string[] {
  const paint = paintFor(context);
  const tableOf = (titles: readonly string[], rows: readonly (readonly string[])[]) =>
    rows.length === 0
      ? []
      : renderTable(
          titles.map((title) => ({ title })),
          rows,
          paint,
        );
  return [
    ...tableOf(
      ["SERVICE", "ADDRESS", "MEANS"],
      services.flatMap(({ service, edgeIPs }) =>
        edgeIPs.map(({ address, policy, instance }) => [
          service,
          address,
          instance < 0 ? policy : `${policy} ${instance}`,
        ]),
      ),
    ),
    ...tableOf(
      ["INSTANCE", "ADDRESSES", "NODE", "TUNNEL", "READY"],
      services.flatMap(({ service, instances }) =>
        instances.map(({ instance, addresses, node, tunnel, ready }) => [
          `${service} ${instance}`,
          addresses.join(","),
          node,
          tunnel?.address ?? "",
          ready ? "yes" : "no",
        ]),
      ),
    ),
    ...tableOf(
      ["NODE", "ALIVE", "ADDRESSES", "SUBNETS", "TUNNEL"],
      nodes.map(({ node, isAlive, addresses, subnets, tunnel }) => [
        node,
        isAlive ? "yes" : "no",
        addresses.join(","),
        subnets.join(","),
        tunnel?.address ?? "",
      ]),
    ),
  ];
}
