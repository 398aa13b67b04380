import { CoreError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import {
  describe,
  KINDS,
  type Kind,
  keyOf,
  type ModelObject,
  type ObjectOf,
} from "../../core/model/object.ts";
import { checkObject } from "../../core/model/parse.ts";
import { Turns } from "../../core/turns.ts";
import type { EtcdClient } from "../../engines/etcd/etcd-client.ts";
import { followRange, type RangeFollower } from "../../engines/etcd/follow-range.ts";
import { prefixRange } from "../../engines/etcd/prefix-range.ts";
import type { KeyValue, WriteOp } from "../../wire/etcd/kv-messages.ts";
import type { WatchEvent } from "../../wire/etcd/watch-messages.ts";
import type { Ledger, LedgerChange, LedgerPlan, ObjectName } from "./ledger.ts";
import { Milestones } from "./milestones.ts";

/** Others are quicker so often at most. */
const MAX_ATTEMPTS = 50;

/**
 * A ledger that several managers share. Every change also puts one key, and is only made where that is as it was
 * when the change was planned: so no two managers give the same address, and any of them may die.
 */
export class EtcdLedger implements Ledger, RangeFollower {
  readonly #client: EtcdClient;
  readonly #prefix: string;
  readonly #log: Log;
  readonly #turns = new Turns();
  /** The revisions of the one key; 1: that all was read once. */
  readonly #writes = new Milestones();
  #rows = new Map<string, string>();
  #coming = new Map<string, string>();
  #objects = new Map<string, ModelObject>();
  #writesRevision = 0;
  #comingWrites = 0;
  #onChange: (names: readonly ObjectName[]) => void = () => undefined;

  /** @throws CoreError ERR_ETCD_UNREACHABLE */
  static async open(client: EtcdClient, prefix: string, log: Log): Promise<EtcdLedger> {
    const ledger = new EtcdLedger(client, `${prefix}v1/manager/state/`, log);
    await ledger.#writes.reach(1);
    return ledger;
  }

  private constructor(client: EtcdClient, prefix: string, log: Log) {
    this.#client = client;
    this.#prefix = prefix;
    this.#log = log;
    void followRange(client, prefixRange(prefix), this);
  }

  get<K extends Kind>(kind: K, key: string): ObjectOf<K> | undefined {
    const object = this.#objects.get(describe(kind, key));
    return isOfKind(object, kind) ? object : undefined;
  }

  objects(): Iterable<ModelObject> {
    return this.#objects.values();
  }

  secret(name: string): string | undefined {
    return this.#rows.get(`secrets/${name}`);
  }

  secrets(): ReadonlyMap<string, string> {
    const secrets = [...this.#rows].filter(([name]) => name.startsWith("secrets/"));
    return new Map(secrets.map(([name, text]) => [name.slice("secrets/".length), text]));
  }

  change<T>(plan: () => LedgerPlan<T>): Promise<T> {
    return this.#turns.take(async () => {
      for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
        const { change, result } = plan();
        const ops = this.#opsOf(change);
        if (ops.length === 0) return result;
        const guard = Buffer.from(`${this.#prefix}writes`);
        const modRevision = this.#writesRevision;
        const { header, succeeded } = await this.#client.transact(
          [{ what: "unchanged", key: guard, modRevision }],
          [...ops, { op: "put", key: guard, value: Buffer.from("1"), lease: 0n }],
        );
        // What it was planned on, or what it came to, has to be known here before anything else is planned.
        await this.#writes.reach(succeeded ? header.revision : Math.max(2, modRevision + 1));
        if (succeeded) return result;
      }
      throw new CoreError(
        "ERR_CHANGED_MEANWHILE",
        `other managers were quicker ${MAX_ATTEMPTS} times; expected to be asked again`,
      );
    });
  }

  follow(onChange: (names: readonly ObjectName[]) => void): void {
    this.#onChange = onChange;
  }

  /** Following ends with the client, which who made it closes. */
  async close(): Promise<void> {
    await this.#turns.over();
    this.#writes.close();
  }

  begin(): void {
    this.#coming = new Map();
    this.#comingWrites = 0;
  }

  page(kvs: readonly KeyValue[]): void {
    for (const { key, value, modRevision } of kvs) {
      const name = key.slice(this.#prefix.length);
      this.#coming.set(name, value.toString("utf8"));
      if (name === "writes") this.#comingWrites = modRevision;
    }
  }

  whole(): void {
    const names = new Set([...this.#rows.keys(), ...this.#coming.keys()]);
    this.#rows = this.#coming;
    this.#writesRevision = this.#comingWrites;
    this.#tell([...names]);
    this.#writes.passed(Math.max(1, this.#writesRevision));
  }

  changed(events: readonly WatchEvent[]): void {
    const names = events.map(({ type, kv: { key, value, modRevision } }) => {
      const name = key.slice(this.#prefix.length);
      if (type === "put") this.#rows.set(name, value.toString("utf8"));
      else this.#rows.delete(name);
      if (name === "writes") this.#writesRevision = modRevision;
      return name;
    });
    this.#tell(names);
    this.#writes.passed(this.#writesRevision);
  }

  following(member: string): void {
    this.#log.info({ member }, "the manager follows etcd");
  }

  failed(error: CoreError): void {
    this.#log.warn({ err: error }, "the manager's etcd: it goes on with what is known");
  }

  #opsOf({ set = [], delete: gone = [], secrets = new Map() }: LedgerChange): WriteOp[] {
    const keyFor = (name: string): Buffer => Buffer.from(`${this.#prefix}${name}`);
    const put = (name: string, text: string): WriteOp => ({
      op: "put",
      key: keyFor(name),
      value: Buffer.from(text),
      lease: 0n,
    });
    return [
      ...gone.map(({ kind, key }): WriteOp => ({ op: "delete", key: keyFor(nameOf(kind, key)) })),
      ...set.map((object) => put(nameOf(object.kind, keyOf(object)), JSON.stringify(object))),
      ...[...secrets].map(
        ([name, text]): WriteOp =>
          text === undefined
            ? { op: "delete", key: keyFor(`secrets/${name}`) }
            : put(`secrets/${name}`, text),
      ),
    ];
  }

  #tell(names: readonly string[]): void {
    const changed = names.flatMap((name) => parseName(name) ?? []);
    for (const { kind, key } of changed) {
      const object = this.#read(this.#rows.get(nameOf(kind, key)), describe(kind, key));
      if (object === undefined) this.#objects.delete(describe(kind, key));
      else this.#objects.set(describe(kind, key), object);
    }
    if (changed.length > 0) this.#onChange(changed);
  }

  /** What others wrote there: nothing about it is taken for granted. */
  #read(text: string | undefined, name: string): ModelObject | undefined {
    if (text === undefined) return undefined;
    const checked = checkObject(parseJson(text));
    if (checked.ok && describe(checked.value.kind, keyOf(checked.value)) === name) {
      return checked.value;
    }
    this.#log.error({ object: name }, "what etcd holds of it is not understood: it is left out");
    return undefined;
  }
}

function nameOf(kind: Kind, key: string): string {
  return `objects/${kind}/${key}`;
}

function parseName(name: string): ObjectName | undefined {
  const [, word, key = ""] = /^objects\/([^/]+)\/(.+)$/s.exec(name) ?? [];
  const kind = KINDS.find((known) => known === word);
  return kind && { kind, key };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isOfKind<K extends Kind>(object: ModelObject | undefined, kind: K): object is ObjectOf<K> {
  return object?.kind === kind;
}
