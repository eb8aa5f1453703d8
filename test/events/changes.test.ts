import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Glob } from "bun";
import type { Ctx } from "../../src/context";
import type { Tx } from "../../src/db/statements";
import { CLI_ACTOR } from "../../src/base/actor";
import { deletePage } from "../../src/features/pages/deletion";
import { erasePage } from "../../src/features/pages/store";
import { setAllowedNetworks, setPublicAddress } from "../../src/features/settings/settings";
import { createSnapshots } from "../../src/features/status/snapshots";
import { createContext } from "../../src/installation";
import { createTestApp } from "../support/app";
import {
  createIncident,
  createKey,
  createMonitor,
  createPage,
  updatePage,
} from "../support/examined";

const SRC = join(import.meta.dir, "..", "..", "src");
const NAMES = [
  "keysChanged",
  "pageChanged",
  "addressesChanged",
  "monitorsChanged",
  "settingsChanged",
] as const;

const KEY = { name: "One", scopes: ["read:status" as const] };
const MONITOR = { type: "http" as const, name: "One", config: { url: "https://acme.test/" } };

/** Records the change signals of a process, each with its value if it has one. */
function record({ signals }: Ctx): string[] {
  const emitted: string[] = [];
  for (const name of NAMES) {
    signals[name].on((value: unknown) => {
      emitted.push(typeof value === "string" ? `${name} ${value}` : name);
    });
  }
  return emitted;
}

/** An app with two pages, and the context of another process on the same database. */
async function twoProcesses() {
  const app = await createTestApp({ env: { ALLCLEAR_BASE_URL: undefined } });
  const { page, components } = await app.page({ slug: "acme" }, ["API"]);
  const { page: other } = await app.page({ slug: "other", name: "Other" }, ["Shop"]);
  const elsewhere = createContext(app.ctx);
  const write = (ctx: Ctx) => (make: (ctx: Ctx, tx: Tx) => unknown) =>
    ctx.db.write((tx) => void make(ctx, tx));
  return {
    app,
    page,
    other,
    component: components["API"] ?? "",
    elsewhere,
    changeHere: write(app.ctx),
    changeElsewhere: write(elsewhere),
    /** Reads what others changed, as the server does after a commit by another process. */
    notice: () => app.ctx.signals.databaseChangedElsewhere.emit(),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

interface Place {
  page: string;
  component: string;
}

const CHANGES: readonly {
  what: string;
  make: (ctx: Ctx, tx: Tx, place: Place) => unknown;
  emits: readonly string[];
}[] = [
  {
    what: "creating a key",
    make: (ctx, tx) => createKey(ctx, tx, KEY, CLI_ACTOR),
    emits: ["keysChanged"],
  },
  {
    what: "creating a monitor",
    make: (ctx, tx) => createMonitor(ctx, tx, MONITOR, CLI_ACTOR),
    emits: ["monitorsChanged"],
  },
  {
    what: "renaming a page",
    make: (ctx, tx, { page }) => updatePage(ctx, tx, page, { name: "New" }, CLI_ACTOR),
    emits: ["addressesChanged", "pageChanged PAGE"],
  },
  {
    what: "deleting a page",
    make: (ctx, tx, { page }) => deletePage(ctx, tx, page, CLI_ACTOR),
    emits: ["addressesChanged", "pageChanged OTHER", "pageChanged PAGE"],
  },
  {
    what: "an incident with components",
    make: (ctx, tx, { component }) => {
      const named = { [component]: "major_outage" } as const;
      const input = { page: "acme", name: "Errors", body: "Hm.", components: named };
      return createIncident(ctx, tx, input, "api", CLI_ACTOR);
    },
    emits: ["pageChanged PAGE"],
  },
  {
    what: "setting the public address",
    make: (ctx, tx) => setPublicAddress(ctx, tx, "https://new.acme.test", CLI_ACTOR),
    emits: ["settingsChanged"],
  },
  {
    what: "allowing networks",
    make: (ctx, tx) => setAllowedNetworks(ctx, tx, "10.0.0.0/8", CLI_ACTOR),
    emits: ["settingsChanged"],
  },
];

describe("a change by another process", () => {
  test.each(CHANGES)("$what emits only the signals of what it changed, once", async (change) => {
    await using both = await twoProcesses();
    const { page, other, component } = both;
    const emitted = record(both.app.ctx);
    await both.changeElsewhere((ctx, tx) => change.make(ctx, tx, { page: page.id, component }));
    expect(emitted).toEqual([]);
    both.notice();
    both.notice();
    const expected = change.emits.map((name) =>
      name.replace("PAGE", page.id).replace("OTHER", other.id),
    );
    expect(emitted.toSorted()).toEqual(expected.toSorted());
  });

  test("a page created by another process is signalled with its id", async () => {
    await using both = await twoProcesses();
    const emitted = record(both.app.ctx);
    const input = { slug: "third", name: "Third" };
    let id = "";
    await both.changeElsewhere((ctx, tx) => (id = createPage(ctx, tx, input, CLI_ACTOR).id));
    both.notice();
    expect(emitted.toSorted()).toEqual(["addressesChanged", `pageChanged ${id}`]);
  });

  test("a change that is rolled back is signalled nowhere", async () => {
    await using both = await twoProcesses();
    const [here, there] = [record(both.app.ctx), record(both.elsewhere)];
    const undone = both.changeElsewhere((ctx, tx) => {
      createKey(ctx, tx, KEY, CLI_ACTOR);
      throw new Error("undone");
    });
    expect(await undone.catch((error: Error) => error.message)).toBe("undone");
    both.notice();
    expect([here, there]).toEqual([[], []]);
  });

  test("only the snapshot of the changed page is built again", async () => {
    await using both = await twoProcesses();
    const snapshots = createSnapshots(both.app.ctx);
    const read = (slug: string) => snapshots.read(slug, both.app.clock.now());
    const [acme, other] = [read("acme"), read("other")];
    await both.changeElsewhere((ctx, tx) =>
      updatePage(ctx, tx, both.page.id, { name: "New" }, CLI_ACTOR),
    );
    both.notice();
    expect(read("other")).toBe(other as NonNullable<typeof other>);
    expect(read("acme")).not.toBe(acme);
    expect(read("acme")?.document.page.name).toBe("New");
  });

  test("a signal whose listener fails is emitted again with the next commit, and others are not", async () => {
    await using both = await twoProcesses();
    const { signals } = both.app.ctx;
    let failures = 1;
    signals.keysChanged.on(() => {
      if (failures-- > 0) throw new Error("unreadable");
    });
    const emitted = record(both.app.ctx);
    await both.changeElsewhere((ctx, tx) => {
      createKey(ctx, tx, KEY, CLI_ACTOR);
      createMonitor(ctx, tx, MONITOR, CLI_ACTOR);
    });
    expect(both.notice).toThrow("unreadable");
    expect(emitted.toSorted()).toEqual(["keysChanged", "monitorsChanged"]);
    both.notice();
    expect(emitted.toSorted()).toEqual(["keysChanged", "keysChanged", "monitorsChanged"]);
  });
});

describe("a change by this process", () => {
  test("its own changes are signalled once, not again after a change by another process", async () => {
    await using both = await twoProcesses();
    const emitted = record(both.app.ctx);
    for (const { make } of CHANGES) {
      await both.changeHere((ctx, tx) =>
        make(ctx, tx, { page: both.other.id, component: both.component }),
      );
    }
    const own = [...emitted];
    expect(new Set(own.map((name) => name.split(" ")[0]))).toEqual(new Set(NAMES));
    await both.changeElsewhere((ctx, tx) => createKey(ctx, tx, KEY, CLI_ACTOR));
    both.notice();
    expect(emitted).toEqual([...own, "keysChanged"]);
  });

  test("a change between two by this process is not missed", async () => {
    await using both = await twoProcesses();
    const create = (ctx: Ctx, tx: Tx) => createKey(ctx, tx, KEY, CLI_ACTOR);
    await both.changeHere(create);
    await both.changeElsewhere(create);
    await both.changeHere(create);
    const emitted = record(both.app.ctx);
    both.notice();
    expect(emitted).toEqual(["keysChanged"]);
  });

  test("changes from before the first reading are not signalled after it", async () => {
    await using both = await twoProcesses();
    await both.changeHere((ctx, tx) => createKey(ctx, tx, KEY, CLI_ACTOR));
    both.elsewhere.signals.databaseChangedElsewhere.emit();
    const emitted = record(both.elsewhere);
    await both.changeHere((ctx, tx) => createMonitor(ctx, tx, MONITOR, CLI_ACTOR));
    both.elsewhere.signals.databaseChangedElsewhere.emit();
    expect(emitted).toEqual(["monitorsChanged"]);
  });
});

test("all that was ever signalled is signalled again after the database was replaced, once", async () => {
  await using both = await twoProcesses();
  await both.changeHere((ctx, tx) => {
    createKey(ctx, tx, KEY, CLI_ACTOR);
    erasePage(tx, { id: both.other.id });
  });
  const emitted = record(both.app.ctx);
  both.app.ctx.signals.databaseReplaced.emit();
  expect(emitted).toEqual([]);
  both.notice();
  both.notice();
  expect(emitted.toSorted()).toEqual([
    "addressesChanged",
    "keysChanged",
    ...[both.page.id, both.other.id].toSorted().map((id) => `pageChanged ${id}`),
  ]);
});

/** Modules that emit: the signals themselves, and what a replica shows of the age of its data. */
const EMITTING: readonly string[] = ["events/changes.ts", "fleet/replica/elsewhere.ts"];

test("no other module emits a change signal without raising its version", async () => {
  const found: string[] = [];
  for await (const file of new Glob("**/*.{ts,tsx}").scan(SRC)) {
    if (EMITTING.includes(file)) continue;
    const source = await Bun.file(join(SRC, file)).text();
    if (NAMES.some((name) => source.includes(`${name}.emit(`))) found.push(file);
  }
  expect(found).toEqual([]);
});
