import { CoreError } from "../core/errors.ts";
import { resolveConfig } from "../daemon/config.ts";
import { MANAGER_OPTIONS } from "../daemon/manager/manager-options.ts";
import {
  API_SERVER_OPTIONS,
  CONFIG_OPTION,
  CONTROL_OPTIONS,
  OPTION_GROUPS,
  WORDS,
} from "../daemon/options.ts";
import type { CommandInput, CommandSpec } from "./command-spec.ts";
import { manageTokens } from "./manager/manage-tokens.ts";
import { removeNode } from "./manager/remove-node.ts";
import { showTable } from "./manager/show-table.ts";
import { TOKEN_OPTIONS } from "./manager/token-options.ts";
import { runDaemon } from "./run-daemon.ts";

const { apiListen, apiMaxMessageBytes } = API_SERVER_OPTIONS;
const { from } = WORDS;

/** What a manager has its own words for. */
const OWN_GROUPS = new Set<object>([CONTROL_OPTIONS, API_SERVER_OPTIONS, MANAGER_OPTIONS]);

const ACTIONS: ReadonlyMap<
  string,
  (words: readonly string[], input: CommandInput) => Promise<number>
> = new Map([
  ["token", manageTokens],
  ["table", showTable],
  ["remove", removeNode],
]);

/** `up --to api` for nodes of an edge, which join it and get addresses from it. */
export const MANAGER: CommandSpec = {
  name: "manager",
  summary: "the brain of an edge: who belongs to it, what runs where, and which addresses that has",
  description:
    "Without a word it runs, as up does, with the API for nodes on --api-listen. Nodes join with a token of `manager token create`; then they have a certificate, and the API is TLS for them. `manager token`, `manager table NAME|IP` and `manager remove NODE` ask the one that runs in the state folder. See docs/manager.md.",
  arguments: [
    {
      name: "ACTION",
      help: "token create, token list, token revoke ID; table NAME|IP; remove NODE; it runs when not given",
      values: [...ACTIONS.keys()],
      isOptional: true,
    },
    { name: "WORD", help: "what the action needs", isOptional: true, isRepeated: true },
  ],
  optionGroups: [
    { title: "Manager", specs: { apiListen, apiMaxMessageBytes, ...MANAGER_OPTIONS } },
    { title: "With token create", specs: TOKEN_OPTIONS },
    { title: "Sources", specs: { from, ...CONFIG_OPTION } },
    { title: "Commands", specs: CONTROL_OPTIONS },
    ...OPTION_GROUPS.filter(({ specs }) => !OWN_GROUPS.has(specs)),
  ],
  examples: [
    { help: "a manager that nodes reach", command: "manager --api-listen 0.0.0.0:12090" },
    {
      help: "a token for one node, good for an hour",
      command: "manager token create --uses 1 --lifetime 1h",
    },
    { help: "where an address leads", command: "manager table 10.30.0.1" },
    { help: "a node that will not come back", command: "manager remove edge-7" },
    {
      help: "one of several managers",
      command: "manager --api-listen 0.0.0.0:12090 --manager-etcd 10.0.0.1:2379,10.0.0.2:2379",
    },
  ],
  run: manage,
};

async function manage(input: CommandInput): Promise<number> {
  const { args, flags, context } = input;
  const [word, ...words] = args;
  if (word !== undefined) {
    const action = ACTIONS.get(word);
    if (action !== undefined) return action(words, input);
    const known = [...ACTIONS.keys()].join(", ");
    throw new CoreError("ERR_USAGE", `"${word}" is nothing that a manager does; expected ${known}`);
  }
  const { environment, hostName } = context;
  const config = await resolveConfig({ flags, environment, hostName, isManager: true });
  return runDaemon(config, context);
}
