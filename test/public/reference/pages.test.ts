import { describe, expect, test } from "bun:test";
import { ERROR_CODES } from "../../../src/base/errors";
import { LANGUAGES } from "../../../src/public/reference/samples";
import { createTestApp, expectProblem } from "../../support/app";
import { readHtml } from "../../support/html";
import { shareSite } from "../../support/shared-site";

/** Largest index, in bytes without compression. */
const INDEX_MAX_BYTES = 60_000;
/** Largest page of a resource, in bytes without compression. */
const PAGE_MAX_BYTES = 300_000;

const site = shareSite(async () => {
  const app = await createTestApp({ env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "1000" } });
  const index = readHtml((await app.call("/docs")).text);
  const paths = index.attributes(".resource h2 a", "href");
  const pages = new Map(
    await Promise.all(
      paths.map(async (path) => [path, readHtml((await app.call(path)).text)] as const),
    ),
  );
  return { app, index, pages, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
});

/** Returns the links of a search, after the fields that every page has. */
async function search(query: string): Promise<{ links: string[]; text: string }> {
  const { app } = await site();
  const { status, text } = await app.call(`/docs/search?q=${encodeURIComponent(query)}`);
  expect(status).toBe(200);
  const page = readHtml(text);
  return {
    links: page.attributes(".results a", "href"),
    text: page.texts(".results").join(" "),
  };
}

describe("the index of the API reference", () => {
  test("the index has fewer than 60 kB, no inline script, and a form that works without one", async () => {
    const { app } = await site();
    const { status, text, headers } = await app.call("/docs");
    expect(status).toBe(200);
    expect(Buffer.byteLength(text)).toBeLessThan(INDEX_MAX_BYTES);
    const scripts = [...text.matchAll(/<script([^>]*)>([^<]*)/g)];
    expect(scripts).toHaveLength(1);
    expect(scripts[0]?.[2]).toBe("");
    const [script = ""] = readHtml(text).attributes("script", "src");
    expect((await app.call(script)).headers.get("cache-control")).toContain("immutable");
    const policy = headers.get("content-security-policy");
    expect(policy).toContain("script-src 'self'; connect-src 'self'");
    expect(policy).toContain("form-action 'self'");
    expect(readHtml(text).attributes("form[role=search]", "action")).toEqual(["/docs/search"]);
    expect(readHtml(text).attributes("form[role=search]", "method")).toEqual([]);
  });

  test("every earlier address on the index leads to the operation or object on its page", async () => {
    const { app, index, pages } = await site();
    const { paths, webhooks, components } = (await app.call("/openapi.json")).body;
    const operations = [paths, webhooks].flatMap((all) =>
      Object.values<Record<string, { operationId: string }>>(all).flatMap((methods) =>
        Object.values(methods).map(({ operationId }) => operationId),
      ),
    );
    expect(operations.length).toBeGreaterThan(60);
    const listed = index.attributes("[data-moved] li[id]", "id");
    expect(listed.toSorted()).toEqual(operations.toSorted());
    const targets = index
      .attributes("[data-moved] li[id] a", "href")
      .map((href) => href.split("#"));
    expect(targets.map(([, id]) => id)).toEqual(listed);
    for (const [path = "", id = ""] of targets) {
      expect(pages.get(path)?.attributes(".entry", "id"), path).toContain(id);
    }
    // The script redirects from objects. Links to all would take half of the index.
    const homes = index.attributes(".resource", "data-objects").map((names) => names.split(" "));
    for (const [place, page] of [...pages.values()].entries()) {
      const objects = page.attributes(".entry[id^='schema-']", "id");
      expect(objects).toEqual(homes[place]?.filter(Boolean).map((name) => `schema-${name}`) ?? []);
    }
    const described = [...homes.flat().filter(Boolean), ...index.attributes(".entry", "id")];
    expect(index.attributes(".entry", "id")).toEqual(["schema-Problem"]);
    expect(described).toHaveLength(Object.keys(components.schemas).length);
  });
});

describe("the page of a resource", () => {
  test("each resource has a page of its own whose links lead somewhere", async () => {
    const { index, pages } = await site();
    expect([...pages.keys()]).toContain("/docs/incidents");
    expect([...pages.keys()]).toContain("/docs/e-mail");
    const idsOf = new Map(
      [...pages, ["/docs", index] as const].map(([path, page]) => [
        path,
        page.attributes("[id]", "id"),
      ]),
    );
    for (const [path, page] of pages) {
      const ids = idsOf.get(path) ?? [];
      expect(new Set(ids).size, path).toBe(ids.length);
      const broken = page.attributes("a", "href").filter((href) => {
        const [target = "", id] = href.split("#");
        const known = idsOf.get(target === "" ? path : target);
        return known !== undefined && id !== undefined && !known.includes(id);
      });
      expect(broken, path).toEqual([]);
    }
  });

  test("a page with samples says what to replace in them, also the version of an object", async () => {
    const { pages } = await site();
    const texts = pages.get("/docs/incidents")?.texts("main > p").join("\n");
    expect(texts).toContain("Replace ids, words in capitals, and the version in If-Match");
    expect(pages.get("/docs/incidents")?.texts("#updateIncident .curl").join("")).toContain(
      "If-Match",
    );
  });

  test("no page of a resource has more than 300 kB without compression", async () => {
    const { app, pages } = await site();
    for (const path of pages.keys()) {
      const { text } = await app.call(path);
      expect(Buffer.byteLength(text), path).toBeLessThan(PAGE_MAX_BYTES);
    }
  });

  test("an operation has its parameters, its body, its scope, its form and a sample in each language", async () => {
    const { pages } = await site();
    const page = pages.get("/docs/incidents");
    const entry = page?.texts("#createIncident").join("") ?? "";
    expect(entry).toContain("POST/api/v1/incidents");
    expect(entry).toContain("Needs a key with the scope write:incidents.");
    expect(entry).toContain("name required");
    expect(entry).toContain("1 to 255 characters");
    expect(entry).toContain("object of ComponentStatus");
    expect(page?.attributes("#createIncident a", "href")).toContain(
      "/docs/try#/Incidents/createIncident",
    );
    for (const { id } of LANGUAGES) {
      const [sample = ""] = page?.texts(`#createIncident .${id} code`) ?? [];
      expect(sample, id).toContain("https://status.test/api/v1/incidents");
      expect(sample, id).toContain("ALLCLEAR_KEY");
      expect(sample, id).toContain("Idempotency-Key");
    }
    expect(pages.get("/docs/health")?.texts("#getHealth").join("")).toContain("Needs no key.");
    const event = pages.get("/docs/events")?.texts("#onIncidentCreated").join("") ?? "";
    expect(event).toContain("EVENTincident.created");
    expect(event).toContain("Body: IncidentCreatedEvent");
    expect(event).toContain("410 Disables the webhook.");
    const signatures = pages
      .get("/docs/events")
      ?.texts("main p")
      .join(" ")
      .match(/HMAC-SHA256/g);
    expect(signatures).toHaveLength(1);
  });

  test("an object of several shapes lists the fields of all of them once", async () => {
    const { pages } = await site();
    const page = pages.get("/docs/monitors");
    const fields = (name: string) => page?.texts(`#schema-${name} th code`) ?? [];
    expect(fields("CreateMonitor")).toContain("failure_threshold");
    expect(fields("CreateHttpMonitor")).toContain("config");
    expect(fields("CreateHttpMonitor")).not.toContain("failure_threshold");
    expect(page?.attributes("#schema-CreateHttpMonitor a", "href")).toContain(
      "/docs/monitors#schema-CreateMonitor",
    );
  });

  test("the samples follow the public address", async () => {
    await using app = await createTestApp({ env: { ALLCLEAR_BASE_URL: "https://one.example" } });
    expect((await app.call("/docs/status")).text).toContain("https://one.example/api/v1/status");
  });

  test("a resource that does not exist is not found", async () => {
    const { app } = await site();
    expectProblem(await app.call("/docs/nothing"), "not_found");
  });
});

describe("the search of the API reference", () => {
  test("a search finds operations, fields, objects and errors, and links to their places", async () => {
    expect((await search("open an incident")).links[0]).toBe("/docs/incidents#createIncident");
    expect((await search("/api/v1/incidents")).links).toContain("/docs/incidents#listIncidents");
    expect((await search("precondition_failed")).links[0]).toBe("/docs/errors#precondition_failed");
    expect((await search("createdincident")).links).toContain(
      "/docs/incidents#schema-CreatedIncident",
    );
    const field = await search("failure_threshold");
    expect(field.links).toContain("/docs/monitors#schema-CreateMonitor");
    expect(field.text).toContain("field: CreateMonitor");
    expect((await search("Idempotency-Key incident")).links).toContain(
      "/docs/incidents#createIncident",
    );
  });

  test("every word has to match, and a search without a result says so", async () => {
    const { links, text } = await search("incident zebra");
    expect(links).toEqual([]);
    expect(text).toContain("No results for “incident zebra”.");
    expect((await search("")).text).toContain("Type the name of an operation");
  });

  test("a search shows at most 20 results of each kind and the number of the others", async () => {
    const { links, text } = await search("id");
    expect(links.length).toBeLessThanOrEqual(80);
    expect(text).toMatch(/\d+ more results\. Add a word/);
  });

  test("a search is shown as it was typed, also if it looks like markup", async () => {
    const { app } = await site();
    const query = `<img src=x> "${"a".repeat(200)}`;
    const { text } = await app.call(`/docs/search?q=${encodeURIComponent(query)}`);
    expect(text).not.toContain("<img src=x");
    const [typed] = readHtml(text).attributes("input[type=search]", "value");
    expect(typed).toBe(query.slice(0, 100));
  });
});

describe("the errors of the reference", () => {
  test("the page of errors has an entry for each of them and links to their common fields", async () => {
    const { app, index } = await site();
    const page = readHtml((await app.call("/docs/errors")).text);
    expect(page.attributes("dt", "id")).toEqual([...ERROR_CODES]);
    expect(page.attributes("main a", "href")).toContain("/docs#schema-Problem");
    expect(index.texts("#schema-Problem th code")).toContain("code");
  });
});
