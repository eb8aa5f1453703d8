import { describe, expect, test } from "bun:test";
import { shortDay } from "../../../../src/ui/times";
import { createTestApp, type TestApp } from "../../../support/app";
import { KEYS, keysOf, makeKey, NEW_KEY, USERS } from "../../../support/dashboard";
import { readHtml, typedIn } from "../../../support/html";

const DAY = 24 * 60 * 60 * 1_000;

/** The list as a person sees it. */
async function openList(app: TestApp, session: string, query = "") {
  const answer = await app.call(`${KEYS}${query}`, { session });
  expect(answer.status).toBe(200);
  const page = readHtml(answer.text);
  const ways = page.texts(".pagination a").map((label, index) => {
    return [label, page.attributes(".pagination a", "href")[index] ?? ""];
  });
  return {
    text: answer.text,
    names: page.texts("a.row-link"),
    hrefs: page.attributes("a.row-link", "href"),
    rows: page.texts("tbody tr"),
    empty: page.texts(".empty h2"),
    /** Counts of the cards, and where they lead, by their label. */
    cards: Object.fromEntries(
      page.texts(".stat-label").map((label, index) => {
        const count = Number(page.texts(".stat-value")[index]);
        return [label, { count, href: page.attributes("a.stat", "href")[index] ?? "" }];
      }),
    ),
    ways: Object.fromEntries(ways) as Record<string, string>,
    page,
  };
}

const queryOf = (href: string | undefined) => (href ?? "").slice(KEYS.length);

describe("the list of keys", () => {
  test("an empty list of keys explains keys and links to the form for a new one", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("admin");
    const list = await openList(app, session);
    expect(list.empty).toEqual(["No API keys yet"]);
    expect(list.page.attributes(".empty a", "href")).toEqual([NEW_KEY]);
    expect(list.cards).toEqual({});
    expect(list.ways).toEqual({});
  });

  test("the list of keys shows start of value, scopes, limit, last use, creator and expiry", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("admin");
    const form = { scopes: ["read:status", "write:incidents"], expires: "7", rate_limit: "2500" };
    const { value } = await makeKey(app, session, form);
    const unused = await openList(app, session);
    expect(unused.rows[0]).toContain("Never used");
    await app.call("/api/v1/key", { key: value, from: "198.51.100.9" });
    const [row = ""] = (await openList(app, session)).rows;
    for (const part of [
      "Deploy bot",
      `${value.slice(0, 13)}…`,
      "read:status",
      "write:incidents",
      "2,500 / min",
      "198.51.100.9",
      "Test admin",
      "17 Mar 2026",
    ]) {
      expect(row).toContain(part);
    }
    expect(row).not.toContain(value);
  });

  test("following the pages of the list shows each of 120 keys once, newest first, even if keys are added", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("admin");
    for (let key = 1; key <= 120; key++) await app.createKey({ name: `key ${key}` });
    const names: string[] = [];
    const sizes: number[] = [];
    for (let query: string | undefined = ""; query !== undefined;) {
      const list = await openList(app, session, query);
      names.push(...list.names);
      sizes.push(list.names.length);
      expect("Newest" in list.ways).toBe(query !== "");
      // One that comes meanwhile moves none from one page to the next.
      await app.createKey({ name: "late" });
      query = list.ways["Older"] === undefined ? undefined : queryOf(list.ways["Older"]);
    }
    expect(sizes).toEqual([50, 50, 20]);
    expect(names).toEqual(Array.from({ length: 120 }, (_, index) => `key ${120 - index}`));
    expect((await openList(app, session)).names[0]).toBe("late");
  });

  test("the pages of a filtered list of keys keep the filters", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("admin");
    for (let key = 1; key <= 60; key++) {
      await app.createKey({ name: `bot & ${key}` });
      await app.createKey({ name: `other ${key}`, expires: "2027-01-01" });
    }
    const first = await openList(app, session, "?q=bot+%26&show=never_expires");
    expect(first.names).toHaveLength(50);
    const second = await openList(app, session, queryOf(first.ways["Older"]));
    expect(second.names).toHaveLength(10);
    expect(typedIn(second.text, "q")).toEqual(["bot &"]);
    expect([...first.names, ...second.names].every((name) => name.startsWith("bot & "))).toBe(true);
    const again = await openList(app, session, queryOf(second.ways["Newest"]));
    expect(again.names).toEqual(first.names);
  });

  test("an invalid position in the list of keys shows the first page or the end of the list", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("admin");
    await app.createKey();
    for (const before of ["", "x", "%00", "key_", "~", "%F0%9F%98%80"]) {
      const list = await openList(app, session, `?before=${before}`);
      expect(list.names.length + list.empty.length).toBe(1);
    }
  });
});

describe("sorting the list of keys", () => {
  test("the heads of columns sort in both directions, and the address keeps search, filter and order", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("admin");
    for (const [name, limit] of [
      ["bot b", 20],
      ["bot c", 10],
      ["bot a", 30],
      ["other", 5],
    ] as const) {
      await app.createKey({ name, rate_limit: limit });
    }
    const head = async (query: string, label: string) => {
      const { page } = await openList(app, session, query);
      const at = page.texts("th a.sort").findIndex((text) => text === label);
      return queryOf(page.attributes("th a.sort", "href")[at]);
    };
    const by = await head("?q=bot&show=live", "Key");
    expect(by).toBe("?q=bot&show=live&sort=name");
    const sorted = await openList(app, session, by);
    expect(sorted.names).toEqual(["bot a", "bot b", "bot c"]);
    expect(sorted.page.attributes("th[aria-sort]", "aria-sort")).toEqual(["ascending"]);
    const back = await head(by, "Key");
    expect((await openList(app, session, back)).names).toEqual(["bot c", "bot b", "bot a"]);
    const limits = await head(back, "Rate limit, last 24 h");
    expect(limits).toBe("?q=bot&show=live&sort=-limit");
    expect((await openList(app, session, limits)).names).toEqual(["bot a", "bot b", "bot c"]);
    const unknown = await openList(app, session, "?sort=size");
    expect(unknown.names).toEqual(["other", "bot a", "bot c", "bot b"]);
  });

  test("the pages of a sorted list contain every key once and keep the order", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("admin");
    for (let key = 0; key < 120; key++) {
      await app.createKey({ name: `key ${String((key * 7) % 120).padStart(3, "0")}.x` });
    }
    const names: string[] = [];
    for (let query: string | undefined = "?sort=-name"; query !== undefined;) {
      const list = await openList(app, session, query);
      names.push(...list.names);
      expect("First" in list.ways).toBe(query !== "?sort=-name");
      query = list.ways["Next"] === undefined ? undefined : queryOf(list.ways["Next"]);
    }
    const all = Array.from({ length: 120 }, (_, key) => `key ${String(key).padStart(3, "0")}.x`);
    expect(names).toEqual(all.toReversed());
    const past = await openList(app, session, "?sort=-name&before=key_0.%22%22");
    expect(past.empty).toEqual(["No more keys"]);
  });
});

describe("searching the list of keys", () => {
  test("a search finds keys by name, scope, creator, id and start of a value", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("admin");
    const { value, id } = await makeKey(app, session, { name: "Nightly 100%_build" });
    await app.createKey({ name: "Other", scopes: ["write:incidents"] });
    const found = async (term: string) =>
      (await openList(app, session, `?q=${encodeURIComponent(term)}`)).names;
    for (const term of [
      "nightly",
      " 100%_ ",
      "read:status",
      "test admin",
      id,
      value.slice(0, 13),
    ]) {
      expect([term, ...(await found(term))]).toEqual([term, "Nightly 100%_build"]);
    }
    expect(await found("write:incidents")).toEqual(["Other"]);
    expect(await found("")).toHaveLength(2);
  });

  test("a search without result shows its term and a link to all keys", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("admin");
    await app.createKey({ name: "Other" });
    for (const term of [
      "nothing",
      "%",
      "_",
      "\\",
      "'; DROP TABLE api_keys; --",
      "x".repeat(5_000),
    ]) {
      const list = await openList(app, session, `?q=${encodeURIComponent(term)}`);
      expect(list.names).toEqual([]);
      expect(list.empty).toEqual(["No keys match these filters"]);
      expect(typedIn(list.text, "q")).toEqual([term]);
      expect(list.page.attributes(".empty a", "href")).toEqual([KEYS]);
    }
    expect((await openList(app, session)).names).toEqual(["Other"]);
  });
});

describe("the creator of a key", () => {
  test("the creator is a link for owners, who may open users, and plain text for admins", async () => {
    await using app = await createTestApp();
    const owner = await app.signedIn("owner");
    const { id } = await makeKey(app, owner);
    const creator = keysOf(app)[0]?.created_by.id;
    const linksOf = async (session: string, path: string) =>
      readHtml((await app.call(path, { session })).text)
        .attributes("main a", "href")
        .filter((href) => href.startsWith(USERS));
    const admin = await app.signedIn("admin");
    for (const path of [KEYS, `${KEYS}/${id}`]) {
      expect(await linksOf(owner, path)).toEqual([`${USERS}/${creator}`]);
      expect(await linksOf(admin, path)).toEqual([]);
    }
  });
});

describe("the cards above the list of keys", () => {
  async function withKeys() {
    const app = await createTestApp();
    await app.createKey({ name: "stale" });
    await app.clock.advance(1_000);
    app.clock.setWallClock(app.clock.now() + 91 * DAY);
    const day = (days: number) => new Date(app.clock.now() + days * DAY).toISOString().slice(0, 10);
    await app.createKey({ name: "ends soon", expires: day(10) });
    await app.createKey({ name: "ends later", expires: day(100) });
    const { value } = await app.createKey({ name: "busy", rate_limit: 1 });
    for (let request = 0; request < 3; request++) await app.call("/api/v1/key", { key: value });
    await app.clock.advance(6_000);
    const session = await app.signedIn("admin");
    return { app, session, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
  }

  test("each card shows the number of keys in the list that it links to", async () => {
    await using installation = await withKeys();
    const { app, session } = installation;
    const { cards } = await openList(app, session);
    const led: Record<string, string[]> = {};
    for (const [label, { count, href }] of Object.entries(cards)) {
      const { names } = await openList(app, session, queryOf(href));
      expect([label, names.length]).toEqual([label, count]);
      led[label] = names;
    }
    expect(led).toEqual({
      "Expiring within 14 days": ["ends soon"],
      "Without expiry": ["busy", "stale"],
      "Unused for 90 days": ["stale"],
      "Rate-limited this week": ["busy"],
    });
  });

  test("only a rate-limited key is marked so in its row", async () => {
    await using installation = await withKeys();
    const { app, session } = installation;
    const { names, rows } = await openList(app, session);
    const marked = names.filter((_, index) => rows[index]?.includes("Rate-limited"));
    expect(marked).toEqual(["busy"]);
  });

  test("only an expiry within 14 days is highlighted", async () => {
    await using installation = await withKeys();
    const { app, session } = installation;
    const { page } = await openList(app, session);
    const soon = shortDay(new Date(app.clock.now() + 10 * DAY).toISOString());
    const marked = page.texts("tbody tr").filter((row) => row.includes("Expires soon"));
    expect(marked).toHaveLength(1);
    expect(marked[0]).toContain(soon);
  });

  test("the selected card links back to all keys and keeps the search", async () => {
    await using installation = await withKeys();
    const { app, session } = installation;
    const chosen = await openList(app, session, "?q=s&show=unused");
    expect(chosen.names).toEqual(["stale"]);
    expect(chosen.cards["Unused for 90 days"]?.href).toBe(`${KEYS}?q=s`);
    expect(chosen.cards["Without expiry"]?.href).toBe(`${KEYS}?q=s&show=never_expires`);
    expect(typedIn(chosen.text, "show")).toEqual(["unused"]);
    expect(chosen.page.attributes('a[aria-current="true"]', "href")).toEqual([`${KEYS}?q=s`]);
  });

  test("a card without keys shows an empty list, and an unknown card all keys", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("admin");
    await app.createKey({ name: "Other" });
    const none = await openList(app, session, "?show=limited");
    expect(none.empty).toEqual(["No keys match these filters"]);
    expect((await openList(app, session, "?show=nonsense")).names).toEqual(["Other"]);
  });

  test("an empty last page says that there are no older keys", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("admin");
    await app.createKey({ name: "Other" });
    const past = await openList(app, session, "?before=key_0");
    expect(past.empty).toEqual(["No older keys"]);
  });
});
