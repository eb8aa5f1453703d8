import type { Actor } from "../base/actor";
import { conflict } from "../base/errors";
import {
  type ForeignObject,
  type ImportHistory,
  type ImportItem,
  type ImportKind,
  type ImportReport,
  type ImportTarget,
  type Verdict,
  VERDICTS,
} from "../base/import-report";
import { redactText } from "../base/redaction";
import { oneLine } from "../base/text";
import { toIso } from "../base/time";
import type { Ctx } from "../context";
import type { Tx } from "../db/statements";
import type { OutboxEvent } from "../events/outbox";
import { findSetting, putSetting } from "../features/settings/store";
import { type ForeignKey, type Found, keyOf } from "./found";
import type { ImportOptions } from "./sources";
import {
  findFirstSource,
  findSource,
  insertImport,
  insertSource,
  listRefsOfSource,
  type RefRow,
  saveRef,
  type SourceRow,
} from "./store";

/** Name of the setting with the key. */
const KEY = "import_key";

const KEY_BYTES = 32;

/**
 * Returns a function that gives HMAC-SHA-256 of settings, by which an import sees what changed in a source. Settings
 * hold passwords, so the key is random. It is created with the first of them.
 */
function createSettingsMac(ctx: Ctx, tx: Tx): (settings: unknown) => Buffer {
  let key: string | undefined;
  return (settings) => {
    key ??= readKey(ctx, tx);
    return new Bun.CryptoHasher("sha256", Buffer.from(key, "base64"))
      .update(JSON.stringify(settings))
      .digest();
  };
}

function readKey(ctx: Ctx, tx: Tx): string {
  const stored = findSetting(tx, { name: KEY })?.value;
  if (typeof stored === "string") return stored;
  const value = Buffer.from(ctx.random(KEY_BYTES)).toString("base64");
  putSetting(tx, { name: KEY, value, now: ctx.clock.now() });
  return value;
}

/** Object that one of the source became, to note for the next import. */
export type NotedRef = Omit<RefRow, "sourceId" | "foreignType" | "foreignId">;

/** One import with its options, the earlier imports of its source, and its report. */
export class ImportRun {
  readonly id: string;
  /** Returns a keyed hash of settings. */
  readonly macOf: (settings: unknown) => Buffer;
  /** True if no source of its kind was imported before it. */
  readonly isFirstOfKind: boolean;
  /** Ids of objects that are known to be here. An import deletes none. */
  readonly here = new Set<string>();
  readonly #startedAt: number;
  readonly #source: SourceRow;
  #isNewSource: boolean;
  readonly #refs: ReadonlyMap<ForeignKey, RefRow>;
  readonly #noted = new Map<ForeignKey, RefRow>();
  readonly #toDo: string[] = [];
  readonly #items: ImportItem[] = [];
  readonly #reported = new Set<ForeignKey>();

  /** Throws `conflict` if the name of the source is that of another installation. */
  constructor(
    readonly ctx: Ctx,
    readonly tx: Tx,
    readonly actor: Actor,
    readonly options: ImportOptions,
    { kind, fingerprint }: { kind: ImportKind; fingerprint: string | null },
  ) {
    this.id = ctx.newId("imp");
    this.#startedAt = ctx.clock.now();
    const name = options.source;
    const known = findSource(tx, { kind, name });
    if (known && known.fingerprint !== fingerprint) {
      throw conflict(
        `The source ${name} was imported from another installation. Choose another name for the source.`,
      );
    }
    const createdAt = this.#startedAt;
    this.#source = known ?? { id: ctx.newId("src"), kind, name, fingerprint, createdAt };
    this.#isNewSource = known === undefined;
    const first = findFirstSource(tx, { kind });
    this.isFirstOfKind = first === undefined || first.id === known?.id;
    this.macOf = createSettingsMac(ctx, tx);
    const refs = known ? listRefsOfSource(tx, { sourceId: known.id }) : [];
    this.#refs = new Map(refs.map((ref) => [keyOfRef(ref), ref]));
  }

  /** Finds what an object became at an earlier import. */
  findRef(foreign: Pick<ForeignObject, "type" | "id">): RefRow | undefined {
    return this.#refs.get(keyOf(foreign));
  }

  /** Finds what an object became, at this import or an earlier one. It may be deleted here. */
  findNoted(key: ForeignKey): RefRow | undefined {
    return this.#noted.get(key) ?? this.#refs.get(key);
  }

  /** Stores the source, unless it is stored, and returns its id. */
  saveSource(): string {
    if (this.#isNewSource) insertSource(this.tx, this.#source);
    this.#isNewSource = false;
    return this.#source.id;
  }

  /** Lists what earlier imports noted of objects that this one has not reported. */
  listUnreported(): RefRow[] {
    return [...this.#refs.values()].filter((ref) => !this.#reported.has(keyOfRef(ref)));
  }

  /** Notes what an object became, which is written with the report. */
  note({ type, id }: ForeignObject, ref: NotedRef): void {
    const row = { sourceId: this.#source.id, foreignType: type, foreignId: id, ...ref };
    this.#noted.set(keyOf({ type, id }), row);
  }

  /** Adds an instruction to people. */
  addToDo(text: string): void {
    this.#toDo.push(text);
  }

  get kind(): ImportKind {
    return this.#source.kind;
  }

  /** Returns the kind and the name of the source, as they begin references to it. */
  get sourceName(): string {
    const { kind, name } = this.#source;
    return `${kind}:${name}`;
  }

  /** Returns true if an object was reported already. */
  isReported(foreign: ForeignObject): boolean {
    return this.#reported.has(keyOf(foreign));
  }

  /** Adds the result of an object to the report. */
  report(
    verdict: Verdict,
    foreign: ForeignObject,
    {
      target = null,
      changes = [],
      reason = null,
    }: Partial<Pick<ImportItem, "target" | "reason">> & { changes?: ImportItem["changes"] } = {},
  ): void {
    this.#reported.add(keyOf(foreign));
    const { type, id, name } = foreign;
    const shown = { type, id, name: oneLine(redactText(name)) };
    const safe = changes.map(({ field, from, to, reason: why }) => ({
      field,
      from: redacted(from),
      to: redacted(to),
      reason: redactText(why),
    }));
    this.#items.push({ verdict, foreign: shown, target, changes: safe, reason });
  }

  /**
   * Writes what was noted, with the report, and returns that. Writes nothing if nothing was noted and no history is left
   * to be written.
   */
  finish(
    { notRead, toDo }: Pick<Found, "notRead" | "toDo">,
    history: ImportHistory | null,
  ): ImportReport {
    const hasWritten = this.#noted.size > 0 || history !== null;
    const { kind, name } = this.#source;
    const finishedAt = this.ctx.clock.now();
    const report: ImportReport = {
      id: hasWritten && !this.options.isDryRun ? this.id : null,
      source: { kind, name },
      started_at: toIso(this.#startedAt),
      finished_at: toIso(finishedAt),
      dry_run: this.options.isDryRun,
      counts: countVerdicts(this.#items),
      items: this.#items,
      history,
      not_read: [...notRead],
      to_do: [...toDo, ...this.#toDo],
    };
    if (!hasWritten) return report;
    const sourceId = this.saveSource();
    insertImport(this.tx, { id: this.id, sourceId, finishedAt, report });
    for (const ref of this.#noted.values()) saveRef(this.tx, ref);
    return report;
  }

  /** Returns a new object for the report. In a dry run it has no id, since it is rolled back. */
  newTarget(target: Omit<ImportTarget, "id"> & { id: string }): ImportTarget {
    return this.options.isDryRun ? { ...target, id: null } : target;
  }
}

/** Returns a value without texts that may be secrets. */
function redacted(value: unknown): unknown {
  return typeof value === "string" ? redactText(value) : value;
}

function keyOfRef({ foreignType, foreignId }: RefRow): ForeignKey {
  return keyOf({ type: foreignType, id: foreignId });
}

function countVerdicts(items: readonly ImportItem[]): ImportReport["counts"] {
  const byVerdict = Map.groupBy(items, ({ verdict }) => verdict);
  return Object.fromEntries(
    VERDICTS.flatMap((verdict) => {
      const count = byVerdict.get(verdict)?.length ?? 0;
      return count === 0 ? [] : [[verdict, count]];
    }),
  );
}

/** Returns the services with an outbox whose events people are not notified of, whatever records them. */
export function silent(ctx: Ctx): Ctx {
  const { outbox } = ctx;
  const unheard = (event: OutboxEvent) => ({ ...event, data: { ...event.data, notify: false } });
  return {
    ...ctx,
    outbox: {
      ...outbox,
      record: (tx, event) => outbox.record(tx, unheard(event)),
      recordAll: (tx, events) => outbox.recordAll(tx, events.map(unheard)),
    },
  };
}
