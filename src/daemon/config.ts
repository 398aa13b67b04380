import type { BackendDefinition } from "../backends/backend.ts";
import { loadAllBackends, loadBackend } from "../backends/registry.ts";
import { MANAGER_OWNER } from "../brain/manager/owner.ts";
import type { PathPart } from "../core/model/problems.ts";
import { flagName, type OptionSpecs, type ValuesOf } from "../core/options/option-spec.ts";
import {
  environmentLayer,
  fileLayer,
  firstLayer,
  flagLayer,
  type OptionLayer,
  resolveOptions,
} from "../core/options/resolve-options.ts";
import { API, AUTO, refuseBackend } from "./backend-words.ts";
import { type BackendChoice, chooseBackend } from "./choose-backend.ts";
import {
  type BackendEntry,
  type ConfigFile,
  EMPTY_CONFIG_FILE,
  readConfigFile,
} from "./config-file.ts";
import { addressOf, type ControlConfig, resolveControl } from "./control-config.ts";
import { type EtcdAccess, etcdAccessFor } from "./etcd-access.ts";
import { Faults } from "./faults.ts";
import { type ManagerConfig, resolveManager } from "./manager/manager-config.ts";
import { MANAGER_OPTIONS } from "./manager/manager-options.ts";
import { type IdentityConfig, resolveIdentity } from "./mesh/identity-config.ts";
import { CONFIG_OPTION, CONTROL_OPTIONS, RUN_OPTIONS, type RunValues, WORDS } from "./options.ts";
import { refuseSecondPlane } from "./refuse-second-plane.ts";
import { parseSourceSpec, type SourceSpec } from "./source-spec.ts";
import { readThisMachine } from "./this-machine.ts";
import { clientTlsOf, serverTlsOf } from "./tls-options.ts";

export interface BackendConfig {
  /** The backend's name, with a number where one name is used more than once. */
  readonly name: string;
  readonly definition: BackendDefinition;
  readonly options: ValuesOf<OptionSpecs>;
  /** Why it was chosen, where nobody named it. */
  readonly reasons?: readonly string[];
}

/** All that one instance is told, checked. */
export interface InstanceConfig {
  readonly node: string;
  readonly sources: readonly SourceSpec[];
  readonly backends: readonly BackendConfig[];
  readonly servesApi: boolean;
  readonly values: RunValues;
  /** Missing where no source is an etcd. */
  readonly etcd?: EtcdAccess;
  /** Missing where it takes no commands. */
  readonly control?: ControlConfig;
  /** Missing where it is no manager. */
  readonly manager?: ManagerConfig | undefined;
  /** Missing where it has none. */
  readonly identity?: IdentityConfig | undefined;
}

export interface ConfigInputs {
  /** By the name in code, as the command line gave them. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly hostName: string;
  /** What a preset gives in place of `--from`. */
  readonly sources?: readonly SourceSpec[];
  /** Whether it takes commands; then it may have no source, and what is not said is as `UP_PRESETS` has it. */
  readonly isControlled?: boolean;
  /** Whether it is a manager of the edge: it serves the API, and takes commands. */
  readonly isManager?: boolean;
  /** What `--to auto` chooses; by what works on this machine where it is missing. */
  readonly chooseBackend?: () => Promise<BackendChoice>;
}

/**
 * Flag, then environment, then config file.
 * @throws CoreError ERR_USAGE, ERR_CONFIG_INVALID with all problems; ERR_NOT_POSSIBLE_HERE
 */
export async function resolveConfig(inputs: ConfigInputs): Promise<InstanceConfig> {
  const given = [flagLayer(inputs.flags), environmentLayer(inputs.environment)];
  const faults = new Faults();
  const path = faults.values(resolveOptions(CONFIG_OPTION, given))?.config;
  const file = path === undefined ? EMPTY_CONFIG_FILE : await readFileOf(path, faults);
  const { isManager, isControlled, backend, ownSources } = roleOf(inputs);
  const fromFile = fileLayer(file.options, ["options"]);
  const layers = [...given, fromFile];
  const presets = isControlled ? [flagLayer(UP_PRESETS)] : [];
  const values = faults.values(resolveOptions(RUN_OPTIONS, [...layers, ...presets]));
  const controls = isControlled
    ? faults.values(resolveOptions(CONTROL_OPTIONS, layers))
    : undefined;
  const manager = managerOf(isManager, layers, faults);
  const words = faults.values(resolveOptions(WORDS, given)) ?? { from: [], to: [] };
  const pathOf = (word: string): readonly PathPart[] => firstLayer(given, word)?.path(word) ?? [];
  const sources =
    inputs.sources ??
    resolveSources(
      words.from.length > 0 ? words.from : file.sources,
      (index) => (words.from.length > 0 ? pathOf("from") : ["sources", index]),
      { faults, mayBeNone: isControlled },
    );
  const entries = entriesOf(words.to, file.backends, pathOf("to"), backend);
  if (entries.length === 0) faults.missing("no backend; expected --to BACKEND, such as --to print");
  const choose = inputs.chooseBackend ?? (() => chooseBackend(readThisMachine()));
  const backends = await resolveBackends(entries, { given, file: fromFile, choose }, faults);
  if (values !== undefined) {
    faults.attempt(() => serverTlsOf(values));
    faults.attempt(() => clientTlsOf(values));
  }
  if (values === undefined || faults.any) throw faults.error();
  const etcd = await etcdAccessFor(sources, manager, values, inputs.environment);
  const control = controls && (await resolveControl(controls, values.state, inputs.environment));
  const identity = resolveIdentity(values, control?.stateFolder);
  return Object.freeze({
    node: values.node ?? inputs.hostName,
    sources: [...sources, ...ownSources],
    backends,
    servesApi: entries.some((entry) => entry.to === API),
    values: {
      ...values,
      metricsListen: addressOf(values.metricsListen),
      healthListen: addressOf(values.healthListen),
    },
    ...(etcd && { etcd }),
    ...(control && { control }),
    manager,
    identity,
  });
}

/** What an instance is for: who it listens to, and where the state goes unless somebody says otherwise. */
function roleOf({ isManager = false, isControlled = isManager }: ConfigInputs): {
  readonly isManager: boolean;
  readonly isControlled: boolean;
  readonly backend: string | undefined;
  readonly ownSources: readonly SourceSpec[];
} {
  if (isManager) return { isManager, isControlled, backend: API, ownSources: [OWN_SOURCE] };
  return {
    isManager,
    isControlled,
    backend: isControlled ? UP_BACKEND : undefined,
    ownSources: [],
  };
}

function managerOf(
  isManager: boolean,
  layers: readonly OptionLayer[],
  faults: Faults,
): ManagerConfig | undefined {
  if (!isManager) return undefined;
  const values = faults.values(resolveOptions(MANAGER_OPTIONS, layers));
  return values && faults.attempt(() => resolveManager(values));
}

/** What is wrong with it is told with what else is. */
async function readFileOf(path: string, faults: Faults): Promise<ConfigFile> {
  const checked = await readConfigFile(path, await fileOptionNames());
  faults.file(checked);
  return checked.file;
}

/** What holds with `up` where nothing else is said. */
const UP_PRESETS = { metricsListen: "127.0.0.1:10249", healthListen: "127.0.0.1:10256" };
const UP_BACKEND = "userspace";
const OWN_SOURCE: SourceSpec = { kind: "manager", owner: MANAGER_OWNER };

function entriesOf(
  words: readonly string[],
  inFile: readonly BackendEntry[],
  at: readonly PathPart[],
  preset: string | undefined,
): readonly BackendEntry[] {
  if (words.length > 0) return words.map((to) => ({ to, options: {}, at }));
  const isMissing = inFile.length === 0 && preset !== undefined;
  return isMissing ? [{ to: preset, options: {}, at: ["--to"] }] : inFile;
}

/** The keys that `options:` of a config file may have. */
export async function fileOptionNames(): Promise<readonly string[]> {
  const backends = await loadAllBackends();
  const specs = [
    RUN_OPTIONS,
    CONTROL_OPTIONS,
    MANAGER_OPTIONS,
    ...backends.map((backend) => backend.options),
  ];
  return [...new Set(specs.flatMap((group) => Object.keys(group)))].map(flagName);
}

function resolveSources(
  words: readonly (string | undefined)[],
  pathOf: (index: number) => readonly PathPart[],
  { faults, mayBeNone }: { readonly faults: Faults; readonly mayBeNone: boolean },
): readonly SourceSpec[] {
  const parsed = words.map((text, index) =>
    text === undefined
      ? undefined
      : faults.attempt(() => parseSourceSpec(text, faults.placeOf(pathOf(index)))),
  );
  if (parsed.length === 0 && !mayBeNone) {
    faults.missing("no source; expected --from SOURCE, such as --from file:state.yaml");
  }
  const sources = parsed.filter((source) => source !== undefined);
  const owners = sources.map((source) => source.owner);
  const twice = owners.find((owner, index) => owners.indexOf(owner) !== index);
  if (twice !== undefined) {
    faults.usage(`"${twice}" is given twice; expected each source once`);
  }
  return sources;
}

async function resolveBackends(
  entries: readonly BackendEntry[],
  from: {
    readonly given: readonly OptionLayer[];
    readonly file: OptionLayer;
    readonly choose: () => Promise<BackendChoice>;
  },
  faults: Faults,
): Promise<readonly BackendConfig[]> {
  const { given, file, choose } = from;
  const configs: BackendConfig[] = [];
  const uses = new Map<string, number>();
  for (const entry of entries) {
    if (entry.to === API) continue;
    const choice = entry.to === AUTO ? await choose() : undefined;
    const definition = choice?.definition ?? (await loadBackend(entry.to));
    if (definition === undefined) {
      faults.attempt(() => refuseBackend(entry.to, faults.placeOf(entry.at)));
      continue;
    }
    faults.attempt(() => refuseSecondPlane(definition.name, uses.keys(), faults.placeOf(entry.at)));
    const own = fileLayer(entry.options, entry.at);
    const options = faults.values(resolveOptions(definition.options, [...given, own, file]));
    const use = (uses.get(definition.name) ?? 0) + 1;
    uses.set(definition.name, use);
    const name = use === 1 ? definition.name : `${definition.name}-${use}`;
    const reasons = choice && { reasons: choice.reasons };
    if (options !== undefined) configs.push({ name, definition, options, ...reasons });
  }
  return configs;
}
