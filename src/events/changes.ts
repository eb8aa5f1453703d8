import { eq, sql } from "drizzle-orm";
import { mutate, type Reader, selectMany, selectOne, type Tx } from "../db/statements";
import { changes } from "../db/tables/events";
import { pages } from "../db/tables/pages";
import type { Clock } from "../base/clock";
import { createSignal, type Signal } from "../base/signal";

/** A signal that other processes and replicas emit too, since each change raises a version in the database. */
interface ChangeSignal<T> extends Signal<T> {
  /** Raises the version in the transaction of the change. The signal is emitted after the commit. */
  raise(tx: Tx, value: T): void;
}

/** Signals of changes of what servers keep in memory. */
export interface ChangeSignals {
  /** A key was created, edited, rotated or revoked. */
  keysChanged: ChangeSignal<void>;
  /** The content of a page changed; the value is the page's id. */
  pageChanged: ChangeSignal<string>;
  /** The slugs, custom domains, visibility or rules for visitors of a page changed. */
  addressesChanged: ChangeSignal<void>;
  /** A monitor was created, changed, paused, resumed or deleted, or its token rotated. */
  monitorsChanged: ChangeSignal<void>;
  /** A location was created, changed or deleted, or one of its tokens was issued or ended. */
  locationsChanged: ChangeSignal<void>;
  /** The public address, from which links are built, the allowed networks or the mail relay changed. */
  settingsChanged: ChangeSignal<void>;
}

/** Start of the scopes of pages; a page's id follows. */
const PAGE = "page:";

const raisePage = mutate((orm, $: { id: string; now: number }) =>
  orm
    .update(pages)
    .set({ contentVersion: sql`${pages.contentVersion} + 1`, contentChangedAt: $.now })
    .where(eq(pages.id, $.id)),
);

const raiseScope = mutate((orm, $: { scope: string }) =>
  orm
    .insert(changes)
    .values({ scope: $.scope, version: 1 })
    .onConflictDoUpdate({ target: changes.scope, set: { version: sql`${changes.version} + 1` } }),
);

/** Finds the version of a scope other than a page. */
export const findVersion = selectOne((orm, $: { scope: string }) =>
  orm.select({ version: changes.version }).from(changes).where(eq(changes.scope, $.scope)),
);

/** Lists the versions of all scopes. That of a page is the version of its content. */
const listVersions = selectMany((orm, _$: Record<string, never>) =>
  orm
    .select()
    .from(changes)
    .unionAll(
      orm
        .select({ scope: sql<string>`${PAGE} || ${pages.id}`, version: pages.contentVersion })
        .from(pages),
    ),
);

/** The change signals of a process, and the emission of those that others raised. */
interface Changes {
  signals: ChangeSignals;
  /**
   * Emits the signals whose versions others raised since the last call. The first call emits all signals that were
   * ever raised. Throws the first error of the listeners; the next call emits the failed signals again.
   */
  emitForeign(reader: Reader): void;
  /** Makes the next call of `emitForeign` emit all signals, since another history has the same versions. */
  forget(): void;
}

/** Creates the change signals of a process. */
export function createChangeSignals(clock: Clock): Changes {
  /** Versions by scope, as far as this process raised or noticed them. */
  const known = new Map<string, number>();

  function create<T>(
    scopeOf: (value: T) => string,
    raiseVersion: (tx: Tx, value: T) => number,
  ): ChangeSignal<T> {
    const signal = createSignal<T>();
    return Object.assign(signal, {
      raise(tx: Tx, value: T) {
        const isRaised = raiseVersion(tx, value) > 0;
        tx.afterCommit(() => {
          const scope = scopeOf(value);
          if (isRaised) known.set(scope, (known.get(scope) ?? 0) + 1);
          else known.delete(scope);
          signal.emit(value);
        });
      },
    });
  }

  const createFor = (scope: string): ChangeSignal<void> =>
    create(
      () => scope,
      (tx) => raiseScope(tx, { scope }),
    );

  const byScope = {
    keys: createFor("keys"),
    addresses: createFor("addresses"),
    monitors: createFor("monitors"),
    locations: createFor("locations"),
    settings: createFor("settings"),
  };
  const pageChanged = create<string>(
    (id) => `${PAGE}${id}`,
    (tx, id) => raisePage(tx, { id, now: clock.now() }),
  );

  function emit(scope: string): void {
    if (scope.startsWith(PAGE)) pageChanged.emit(scope.slice(PAGE.length));
    else byScope[scope as keyof typeof byScope]?.emit();
  }

  return {
    signals: {
      keysChanged: byScope.keys,
      pageChanged,
      addressesChanged: byScope.addresses,
      monitorsChanged: byScope.monitors,
      locationsChanged: byScope.locations,
      settingsChanged: byScope.settings,
    },
    forget() {
      for (const scope of known.keys()) known.set(scope, Number.NaN);
    },
    emitForeign(reader) {
      const failures: unknown[] = [];
      const versions = new Map(listVersions(reader, {}).map((row) => [row.scope, row.version]));
      for (const scope of new Set([...known.keys(), ...versions.keys()])) {
        const version = versions.get(scope);
        if (version === known.get(scope)) continue;
        try {
          emit(scope);
          if (version === undefined) known.delete(scope);
          else known.set(scope, version);
        } catch (error) {
          failures.push(error);
        }
      }
      if (failures.length > 0) throw failures[0];
    },
  };
}
