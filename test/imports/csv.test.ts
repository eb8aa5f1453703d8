import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { findPageBySlug } from "../../src/features/pages/store";
import { getMonitorRecord } from "../../src/features/monitors/records";
import { readList } from "../../src/imports/csv/read";
import { keyOf } from "../../src/imports/found";
import { createImportSite } from "../support/import-site";
import { temporaryFolder } from "../support/temporary-folder";

/** Reads a list with the given content. */
async function readWith(content: string | Uint8Array, pageName?: string) {
  using folder = temporaryFolder();
  const file = join(folder.path, "list.csv");
  await Bun.write(file, content);
  return await readList(file, { pageName });
}

/** Reads lines below the usual columns. */
const readLines = (...lines: string[]) =>
  readWith(`name,type,url,interval,component,tags\n${lines.join("\n")}\n`);

/** Reads one line, and returns its monitor or the reason for which there is none. */
async function readLine(line: string) {
  const { monitors, leftOut } = await readLines(line);
  return monitors[0] ?? leftOut[0]?.reason;
}

const NO_COMPONENT = { type: "component", id: "none" };

const LIST = `Name;Type;URL;Interval;Component;Tags
Shöp;http;https://shop.example.com/;5 min;Front;"production; web"
Database;;db.example.com:5432;30 s;Front;
`;

describe("a list of monitors", () => {
  test("has a monitor for each line, with interval, tags and the component that lines share", async () => {
    const { pages, components, monitors, leftOut, notRead } = await readWith(LIST);
    expect([leftOut, notRead]).toEqual([[], []]);
    expect(pages).toMatchObject([{ body: { name: "Services", visibility: "private" } }]);
    expect(components.map(({ body }) => body.name)).toEqual(["Front"]);
    expect(monitors).toMatchObject([
      {
        foreign: { type: "monitor", name: "Shöp" },
        body: {
          type: "http",
          config: { url: "https://shop.example.com/" },
          interval_seconds: 300,
          tags: ["production", "web"],
        },
        components: [keyOf(components[0]?.foreign ?? NO_COMPONENT)],
        changes: [],
      },
      {
        body: {
          type: "tcp",
          config: { host: "db.example.com", port: 5432 },
          interval_seconds: 30,
        },
        components: [keyOf(components[0]?.foreign ?? NO_COMPONENT)],
      },
    ]);
  });

  test.each([
    ["with a byte order mark of UTF-8", Buffer.from(`\ufeff${LIST}`)],
    ["in UTF-16 as Excel writes it", Buffer.from(`\ufeff${LIST}`, "utf16le")],
    ["in UTF-16 with the other order of bytes", Buffer.from(`\ufeff${LIST}`, "utf16le").swap16()],
    ["with a line that declares the separator", Buffer.from(`sep=;\r\n${LIST}`)],
    [
      "with tabs and line ends of Windows",
      Buffer.from(
        LIST.replaceAll(";", "\t")
          .replaceAll("production\t", "production;")
          .replaceAll("\n", "\r\n"),
      ),
    ],
  ])("%s is the same list", async (_name, bytes) => {
    expect(await readWith(new Uint8Array(bytes))).toEqual(await readWith(LIST));
  });

  test.each([
    ["a,,https://a.example", "http", { url: "https://a.example" }],
    ["a,Website,a.example/health", "http", { url: "https://a.example/health" }],
    ["a,,a.example", "http", { url: "https://a.example" }],
    ["a,,tcp://a.example:25", "tcp", { host: "a.example", port: 25 }],
    ["a,Port,[2001:db8::1]:443", "tcp", { host: "2001:db8::1", port: 443 }],
    ["a,ICMP,2001:db8::1", "ping", { host: "2001:db8::1" }],
    ["a,tcp,müller.example:25", "tcp", { host: "xn--mller-kva.example", port: 25 }],
    ["a,domain,https://日本.example/", "domain", { domain: "xn--wgv71a.example" }],
    ["a,ping,https://a.example/x", "ping", { host: "a.example" }],
    ["a,SSL,a.example:8443", "tls", { host: "a.example", port: 8443 }],
    ["a,dns,a.example", "dns", { name: "a.example" }],
    ["a,domain,a.example", "domain", { domain: "a.example" }],
    ["a,,wss://a.example/x", "websocket", { url: "wss://a.example/x" }],
    ["a,ssh,a.example", "ssh", { host: "a.example" }],
    ["a,smtp,a.example:587", "smtp", { host: "a.example", port: 587 }],
    ["a,heartbeat,", "push", {}],
  ] as const)("the line %j is a monitor of the type %s", async (line, type, config) => {
    expect(await readLine(line)).toMatchObject({ body: { type, config } });
  });

  test.each([
    ["60", 60],
    ["90 s", 90],
    ["5m", 300],
    ["1.5 h", 5_400],
    ["0,5 h", 1_800],
    ["1 day", 86_400],
  ])("the interval %j is %d seconds", async (text, seconds) => {
    const found = await readWith(`url;interval\na.example;${text}\n`);
    expect(found.monitors[0]?.body).toMatchObject({ interval_seconds: seconds });
  });

  test("an interval outside the limits of its type is moved into them, and noted", async () => {
    expect(await readLine("a,http,a.example,1")).toMatchObject({
      body: { interval_seconds: 5 },
      changes: [{ field: "interval", from: 1, to: 5 }],
    });
    expect(await readLine("a,push,,30 days")).toMatchObject({
      body: { interval_seconds: 2_592_000 },
      changes: [],
    });
  });

  test("a password in a URL becomes a header, which is a secret", async () => {
    expect(await readLine("a,,https://ada:hidden@a.example/")).toMatchObject({
      body: {
        config: {
          url: "https://a.example/",
          headers: { Authorization: `Basic ${btoa("ada:hidden")}` },
        },
      },
      changes: [],
    });
  });

  test.each([
    ["a,ftp,a.example", "has a type that is not one of http, tcp"],
    ["a,,ftp://a.example", "has an address of which the type is not known"],
    ["a,tcp,a.example", "has a url without a port"],
    ["a,http,", "has no url"],
    ["a,ping,not a host", "has a url that is no host"],
    [`a,ping,${"a".repeat(5_000)}`, "has a url that is no host"],
    [",push,", "has no name"],
    ["a,http,a.example,soon", "has an interval that is no time"],
    ["a,http,a.example,60,,,more", "has more cells than the first line"],
  ])("the line %j is left out with its number and the reason", async (line, reason) => {
    const found = await readLine(line);
    expect(found).toStartWith(`Line 2 ${reason}`);
  });

  test("a line with a name that an earlier one has is left out, and lines without content are none", async () => {
    const { monitors, leftOut } = await readLines("a,,a.example", ",,,,,", "a,,b.example");
    expect(monitors).toHaveLength(1);
    expect(leftOut).toMatchObject([
      {
        foreign: { type: "line", id: "4", name: "a" },
        reason: "Line 4 has the name of line 2. Give each monitor its own.",
      },
    ]);
  });

  test("a component with a colon that is no reference is a name", async () => {
    const { components } = await readLines("a,,a.example,,API: checkout,");
    expect(components.map(({ body }) => body.name)).toEqual(["API: checkout"]);
  });

  test("ids do not repeat the names of monitors and components, which can hold secrets", async () => {
    const found = await readLines("https://a.example/?token=hidden,,a.example,,token=hidden,");
    const keys = [...found.monitors, ...found.components].map(({ foreign }) => foreign.id);
    expect(keys).toHaveLength(2);
    expect(keys.join()).not.toContain("hidden");
  });

  test("columns that are not known are named", async () => {
    const { notRead } = await readWith("url,Owner\na.example,Ada\n");
    expect(notRead).toEqual(["column owner"]);
  });

  test.each([
    ["", "is empty"],
    ["a.example\n", "must name the columns: name,type,url,interval,component,tags"],
    ["url,URL\na.example,b.example\n", "has the column url twice"],
    ['url\n"a.example\n', "the last quote is not closed"],
    [new Uint8Array([0x75, 0x72, 0x6c, 0x0a, 0xff, 0xfe, 0x80]), "is neither UTF-8 nor UTF-16"],
    [`url\n${"a.example\n".repeat(5_001)}`, "has more than 5,000 lines"],
    [`url${",a".repeat(200)}\na.example\n`, "has more than 200 columns"],
  ])("a file with %j is an error", async (content, message) => {
    expect(readWith(content)).rejects.toThrow(message);
  });
});

describe("an import of a list", () => {
  test("creates monitors on their components, and the next one takes over what changed", async () => {
    await using site = await createImportSite();
    const { app } = site;
    const { components } = await app.page({ slug: "shop", name: "Shop" }, ["Checkout"]);
    const list = (interval: string) =>
      `name,url,interval,component\nApi,api.example.com,${interval},shop:checkout\nWiki,wiki.example.com,60,\nGone,gone.example.com,60,shop:nothing\nNamed,named.example.com,60,Search\n`;
    const read = async (interval: string) =>
      ({ ...(await readWith(list(interval), "Ours")), kind: "csv" }) as const;
    const report = await site.importFound(await read("60"));
    const stored = new Map(
      site.monitors().map((row) => {
        const { components: own } = getMonitorRecord(app.ctx.db, row.id);
        return [row.name, own.map(({ pageSlug, name }) => `${pageSlug}:${name}`)] as const;
      }),
    );
    expect(Object.fromEntries(stored)).toEqual({
      Api: ["shop:Checkout"],
      Wiki: ["internal:Wiki"],
      Gone: [],
      Named: ["ours:Search"],
    });
    expect(findPageBySlug(app.ctx.db, { slug: "ours" })?.visibility).toBe("private");
    expect(report.items.find(({ foreign }) => foreign.name === "Gone")).toMatchObject({
      verdict: "changed",
      changes: [{ field: "component", from: "shop:nothing", to: null }],
    });
    expect(Object.keys((await site.importFound(await read("60"))).counts)).toEqual(["unchanged"]);
    const changed = await site.importFound(await read("120"));
    expect(changed.counts.updated).toBe(1);
    const api = site.monitors().find(({ name }) => name === "Api");
    expect(api?.intervalSeconds).toBe(120);
    expect(getMonitorRecord(app.ctx.db, api?.id ?? "").components.map(({ id }) => id)).toEqual([
      components["Checkout"] ?? "",
    ]);
  });

  test("connects components that are made after an import, and leaves those that its lines no longer name", async () => {
    await using site = await createImportSite();
    const { app } = site;
    await app.page({ slug: "shop", name: "Shop" }, ["Checkout"]);
    const watched = async (...components: string[]) => {
      const lines = components.map((component, i) => `${i},,${i}.example.com,,${component},`);
      const { counts } = await site.importFound({ ...(await readLines(...lines)), kind: "csv" });
      const names = site.monitors().map((row) => {
        const { components: own } = getMonitorRecord(app.ctx.db, row.id);
        return own.map(({ pageSlug, name }) => `${pageSlug}:${name}`).join();
      });
      return { names, counts };
    };
    const before = ["wiki:front", "shop:checkout", "Front", "Back"];
    expect((await watched(...before)).names).toEqual([
      "",
      "shop:Checkout",
      "services:Front",
      "services:Back",
    ]);
    await app.page({ slug: "wiki", name: "Wiki" }, ["Front"]);
    const names = ["wiki:Front", "shop:Checkout", "services:Front", "services:Back"];
    expect(await watched(...before)).toMatchObject({ names, counts: { updated: 1 } });
    expect((await watched("shop:checkout", "wiki:front", "Side", "wiki:front")).names).toEqual([
      "shop:Checkout",
      "wiki:Front",
      "services:Side",
      "wiki:Front",
    ]);
  });
});
