import type { ParamSpec, ResourceSpec } from "../resource-spec.ts";

const ADDRESS: ParamSpec = {
  kind: "address",
  name: "address",
  field: "address",
  help: "where it listens",
  required: true,
  unix: true,
};

const UPSTREAM: ParamSpec = {
  kind: "reference",
  to: "upstream",
  name: "upstream",
  field: "backend",
  help: "where connections go",
  required: true,
};

const LISTENER: readonly ParamSpec[] = [
  UPSTREAM,
  {
    kind: "enum",
    values: ["tcp", "http", "h2"],
    aliases: { "http/1.x": "http" },
    name: "protocol",
    field: "protocol",
    help: "what is spoken",
    standard: "tcp",
  },
  {
    kind: "integer",
    min: 1,
    max: 86_400_000,
    name: "timeout",
    field: "timeout",
    help: "milliseconds without a byte after which a connection ends",
    standard: "900000",
  },
  {
    kind: "list",
    placeholder: "CERT-KEY",
    references: "cert-key",
    name: "cert-key",
    field: "listOfCertKey",
    help: "certificates, the first for clients that name no host",
  },
  { kind: "flag", name: "falls-back", field: "fallsBack", help: "other groups serve as well" },
  { kind: "flag", name: "not-falls-back", field: "notFallsBack", help: "only that group serves" },
];

const WEIGHT: ParamSpec = {
  kind: "integer",
  min: 0,
  max: 1000,
  name: "weight",
  field: "weight",
  help: "share of the traffic; 0 takes no new connections",
  standard: "10",
};

const ANNOTATIONS: ParamSpec = {
  kind: "strings",
  name: "annotations",
  field: "annotations",
  help: "hints and notes",
};

const NOTHING: readonly ParamSpec[] = [];

/** A small table that has each kind of parameter and of place; for the tests of the grammar. */
export const FIXTURE_RESOURCES: readonly ResourceSpec[] = [
  {
    name: "tcp-lb",
    shorts: ["tl"],
    summary: "takes TCP connections and hands them to the servers of an upstream",
    section: "module",
    isSystem: false,
    scopes: [
      {
        within: [[]],
        actions: {
          add: {
            help: "begins to listen",
            params: [ADDRESS, ...LISTENER],
            examples: ["add tcp-lb lb0 address 0.0.0.0:80 upstream u0 protocol http"],
          },
          list: { help: "names all", params: NOTHING, examples: ["list tcp-lb"] },
          "list-detail": { help: "shows all", params: NOTHING, examples: ["list-detail tcp-lb"] },
          update: {
            help: "changes what is said",
            params: LISTENER,
            examples: ["update tcp-lb lb0 timeout 60000 cert-key c0,c1"],
          },
          remove: { help: "stops listening", params: NOTHING, examples: ["remove tcp-lb lb0"] },
        },
      },
    ],
  },
  {
    name: "upstream",
    shorts: ["ups"],
    summary: "server groups that serve together",
    section: "module",
    isSystem: false,
    scopes: [
      {
        within: [[]],
        actions: {
          add: { help: "makes one", params: NOTHING, examples: ["add upstream u0"] },
          list: { help: "names all", params: NOTHING, examples: ["list upstream"] },
          remove: { help: "takes it away", params: NOTHING, examples: ["remove upstream u0"] },
          "force-remove": { help: "all the same", params: NOTHING, examples: ["R ups u0"] },
        },
      },
    ],
  },
  {
    name: "server-group",
    shorts: ["sg"],
    summary: "servers that do the same",
    section: "module",
    isSystem: false,
    scopes: [
      {
        within: [[]],
        actions: {
          add: {
            help: "makes one",
            params: [
              {
                kind: "text",
                placeholder: "HOST",
                name: "hint-host",
                field: "hintHost",
                help: "host names that it is for",
              },
              ANNOTATIONS,
            ],
            examples: ['add server-group g0 annotations {"vproxy/hint-host":"a.com"}'],
          },
          list: { help: "names all", params: NOTHING, examples: ["list server-group"] },
          remove: { help: "takes it away", params: NOTHING, examples: ["rm sg g0"] },
        },
      },
      {
        within: [["upstream"], ["service"]],
        actions: {
          add: {
            help: "lets it serve there",
            params: [WEIGHT, ANNOTATIONS],
            examples: ["add server-group g0 to upstream u0 weight 10"],
          },
          remove: {
            help: "lets it serve there no longer",
            params: NOTHING,
            examples: ["remove server-group g0 from upstream u0"],
          },
        },
      },
    ],
  },
  {
    name: "server",
    shorts: ["svr"],
    summary: "one server of a group",
    section: "module",
    isSystem: false,
    scopes: [
      {
        within: [["server-group"]],
        actions: {
          add: {
            help: "adds it",
            params: [ADDRESS, WEIGHT],
            examples: ["add server s1 to server-group g0 address 10.0.2.1:80 weight 10"],
          },
          list: {
            help: "names all",
            params: NOTHING,
            examples: ["list server in server-group g0"],
          },
          update: {
            help: "changes its weight",
            params: [WEIGHT],
            examples: ["update server s1 in server-group g0 weight 0"],
          },
          remove: { help: "takes it away", params: NOTHING, examples: ["r svr s1 from sg g0"] },
        },
      },
    ],
  },
  {
    name: "session",
    shorts: ["sess"],
    summary: "a client's connection with the one to its server",
    section: "channel",
    isSystem: false,
    scopes: [
      {
        within: [["event-loop", "event-loop-group"], ["tcp-lb"], ["server", "server-group"]],
        actions: {
          list: { help: "names all", params: NOTHING, examples: ["list session in tcp-lb lb0"] },
          remove: {
            help: "closes it",
            params: NOTHING,
            examples: ["remove session /10\\.0\\.0\\.1:.*/ from event-loop el0 in elg elg0"],
          },
        },
      },
    ],
  },
  {
    name: "event-loop-group",
    shorts: ["elg"],
    summary: "loops that share work",
    section: "module",
    isSystem: false,
    scopes: [
      {
        within: [[]],
        actions: { add: { help: "makes one", params: NOTHING, examples: ["add elg elg0"] } },
      },
    ],
  },
  {
    name: "event-loop",
    shorts: ["el"],
    summary: "a thread that does the work",
    section: "module",
    isSystem: false,
    scopes: [
      {
        within: [["event-loop-group"]],
        actions: {
          add: { help: "starts one", params: NOTHING, examples: ["a el el0 to elg elg0"] },
        },
      },
    ],
  },
  {
    name: "service",
    shorts: [],
    summary: "addresses behind which endpoints serve",
    section: "module",
    isSystem: false,
    scopes: [
      {
        within: [[]],
        actions: { list: { help: "names all", params: NOTHING, examples: ["list service"] } },
      },
    ],
  },
  {
    name: "resp-controller",
    shorts: [],
    summary: "answers redis-cli",
    section: "none",
    isSystem: true,
    scopes: [
      {
        within: [[]],
        actions: {
          add: {
            help: "begins to listen",
            params: [
              { ...ADDRESS, kind: "address", anyPort: true },
              {
                kind: "text",
                placeholder: "PASSWORD",
                secret: true,
                name: "password",
                field: "password",
                help: "what clients have to say",
              },
            ],
            examples: ["System: add resp-controller r0 address 127.0.0.1:16309"],
          },
          list: { help: "names all", params: NOTHING, examples: ["list resp-controller"] },
        },
      },
    ],
  },
];
