import fc from "fast-check";
import type { Action, ParamInput, ResourceCommand, ResourceRef } from "./command.ts";
import { CERT_FILE, KEY_FILE } from "./control-world.fixture.ts";
import type { ResourceName } from "./resource-names.ts";
import type { ParamSpec, ResourceSpec } from "./resource-spec.ts";
import { DESIRED_RESOURCES, RESOURCES } from "./resources/table.ts";

/** Few, so that commands often meet; one of another namespace, one that has to be quoted. */
const NAMES = ["a", "b", "c", "shop/a", "it's"] as const;

const ADDRESSES = [
  ...[80, 81, 82, 83, 84].map((port) => `127.0.0.1:${port}`),
  "[::1]:80",
  "0.0.0.0:53",
  "unix:/run/a b.sock",
  "db.example:5432",
] as const;

const IPS = ["10.96.0.1", "10.96.0.2", "fd00::1", "192.0.2.1", "nowhere"] as const;
const NETWORKS = ["10.0.0.0/8", "192.0.2.7", "fd00::/8", "::/0"] as const;

/** What parameters take that are texts or lists of texts, by their names. */
const TEXTS: Readonly<Record<string, readonly string[]>> = {
  cert: [CERT_FILE],
  key: [KEY_FILE],
  network: NETWORKS,
  "accept-proxy-from": NETWORKS,
  "trusted-hops": NETWORKS,
  "source-ranges": NETWORKS,
  "cluster-ips": IPS,
  "external-ips": IPS,
  "load-balancer-ips": IPS,
  "forward-to": ["192.0.2.53", "192.0.2.53:5353", "[2001:db8::1]:53"],
  "check-status": ["2xx", "304"],
  "check-method": ["GET", "HEAD", ""],
  "check-path": ["/", "/ok?x={1}", ""],
  "check-host": ["a.example", ""],
  "check-name": ["a.example", ""],
  "hint-host": ["a.example", "*.example", "*", ""],
  "hint-path": ["/", "/api", ""],
  "port-range": ["80", "90"],
  ports: ["80", "http:80:8080/tcp", "53/udp", "http=8080", "90:named@30090"],
};

const ODD_TEXTS = ["", "plain", "with space", 'quote"d', "in", "{", "#"] as const;

function inputOf(spec: ParamSpec): fc.Arbitrary<ParamInput> {
  switch (spec.kind) {
    case "text":
      return fc.constantFrom(...(TEXTS[spec.name] ?? ODD_TEXTS));
    case "integer":
      return fc.oneof(
        { weight: 9, arbitrary: fc.integer({ min: spec.min, max: Math.min(spec.max, 65_535) }) },
        { weight: 1, arbitrary: fc.integer({ min: -1, max: 70_000 }) },
      );
    case "enum":
      return fc.constantFrom(...spec.values, ...Object.keys(spec.aliases ?? {}));
    case "address":
      return fc.constantFrom(...ADDRESSES);
    case "list": {
      const entries = spec.references === undefined ? (TEXTS[spec.name] ?? IPS) : NAMES;
      const minLength = spec.required === true ? 1 : 0;
      return fc.uniqueArray(fc.constantFrom(...entries), { minLength, maxLength: 2 });
    }
    case "reference":
      return fc.constantFrom(...NAMES, ...(spec.required === true ? [] : [""]));
    case "strings":
      return fc.constantFrom<ParamInput>(
        {},
        { team: "shop" },
        { "vproxy/hint-host": "a.example", 'odd "key"': "odd } value" },
      );
    case "flag":
      return fc.constant(true);
  }
}

/** Required ones nearly always, others now and then. */
function paramsOf(specs: readonly ParamSpec[]): fc.Arbitrary<ReadonlyMap<string, ParamInput>> {
  const entries = specs.map((spec) => {
    const entry = inputOf(spec).map((input) => [[spec.name, input] as const]);
    const [given, left] = spec.required === true ? [30, 1] : [1, 4];
    return fc.oneof(
      { weight: given, arbitrary: entry },
      { weight: left, arbitrary: fc.constant([]) },
    );
  });
  return fc.tuple(...entries).map((all) => new Map(all.flat()));
}

/** Adding comes first: what is not there can not be changed. */
const WEIGHTS: Readonly<Record<Action, number>> = {
  add: 8,
  update: 3,
  remove: 2,
  "force-remove": 1,
  list: 0,
  "list-detail": 1,
};

const RUNNING: readonly ResourceName[] = [
  "event-loop-group",
  "event-loop",
  "resp-controller",
  "http-controller",
];

function commandsOf(
  spec: ResourceSpec,
  actions: ReadonlySet<Action>,
): readonly { weight: number; arbitrary: fc.Arbitrary<ResourceCommand> }[] {
  return spec.scopes.flatMap((scope) =>
    Object.entries(WEIGHTS).flatMap(([word, weight]) => {
      const action = [...actions].find((each) => each === word);
      const known = action === undefined ? undefined : scope.actions[action];
      if (action === undefined || known === undefined || weight === 0) return [];
      const arbitrary = fc
        .record({
          name: fc.constantFrom(...(action.startsWith("list") ? [""] : NAMES)),
          within: fc.constantFrom(...scope.within).chain(placeOf),
          params: paramsOf(known.params),
        })
        .map((parts) => ({ kind: "resource", action, type: spec.name, ...parts }) as const);
      return [{ weight, arbitrary }];
    }),
  );
}

function placeOf(types: readonly ResourceName[]): fc.Arbitrary<readonly ResourceRef[]> {
  return fc.tuple(
    ...types.map((type) => fc.constantFrom(...NAMES).map((name) => ({ type, name }))),
  );
}

/** Commands whose words are right, while what they name may be there or not. */
export function randomCommand(
  actions: readonly Action[] = ["add", "update", "remove", "force-remove", "list-detail"],
): fc.Arbitrary<ResourceCommand> {
  const wanted = new Set(actions);
  const desired = DESIRED_RESOURCES.map(({ spec }) => spec);
  const running = RESOURCES.filter(({ name }) => RUNNING.includes(name));
  return fc.oneof(...[...desired, ...running].flatMap((spec) => commandsOf(spec, wanted)));
}

/** Values as JSON could have them, right for no parameter in particular. */
const ANY_INPUT: fc.Arbitrary<ParamInput> = fc.oneof<fc.Arbitrary<ParamInput>[]>(
  fc.string(),
  fc.double(),
  fc.integer(),
  fc.boolean(),
  fc.array(fc.string(), { maxLength: 3 }),
  fc.dictionary(fc.string(), fc.string(), { maxKeys: 3 }),
  fc.constantFrom("127.0.0.1:80", "", "10.0.0.0/8", "2xx"),
);

const ANY_NAME: fc.Arbitrary<string> = fc.oneof(fc.constantFrom(...NAMES), fc.string());

/** Commands as a program could make them: of the right resources and actions, and nothing else is sure. */
export function wildCommand(): fc.Arbitrary<ResourceCommand> {
  const names = DESIRED_RESOURCES.flatMap(({ spec }) =>
    spec.scopes.flatMap(({ actions }) =>
      Object.values(actions).flatMap(({ params }) => params.map(({ name }) => name)),
    ),
  );
  return fc
    .tuple(
      randomCommand(),
      fc.option(ANY_NAME),
      fc.array(fc.tuple(fc.constantFrom(...names, "__proto__", "nonsense"), ANY_INPUT), {
        maxLength: 3,
      }),
      fc.option(
        fc.array(
          fc.record({
            type: fc.constantFrom(...RUNNING, "upstream", "server-group"),
            name: ANY_NAME,
          }),
          { maxLength: 2 },
        ),
      ),
    )
    .map(([command, name, params, within]) => ({
      ...command,
      name: name ?? command.name,
      within: within ?? command.within,
      params: new Map([...command.params, ...params]),
    }));
}
