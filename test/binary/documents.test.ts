import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { validate } from "@readme/openapi-parser";
import { createInstallation, PROCESS_TEST_MS } from "../support/binary";

setDefaultTimeout(PROCESS_TEST_MS);

describe("the documentation inside the executable", () => {
  test("the executable serves the reference and all of its files in an empty folder", async () => {
    await using site = await createInstallation();
    const server = await site.serve();
    for (const path of ["/docs/try", "/docs/incidents"]) {
      const docs = await server.fetch(path);
      expect(docs.status).toBe(200);
      const html = await docs.text();
      const assets = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, one]) => one);
      expect(assets.length).toBeGreaterThan(0);
      for (const name of assets) {
        const asset = await server.fetch(name ?? "");
        expect([name, asset.status]).toEqual([name, 200]);
        expect((await asset.bytes()).byteLength).toBeGreaterThan(100);
      }
    }
    expect((await server.fetch("/docs/errors")).status).toBe(200);
    expect((await server.fetch("/docs/coming-from")).status).toBe(200);
  });

  test("/openapi.json equals the output of `allclear openapi` for the same public address", async () => {
    await using site = await createInstallation();
    const address = ["--base-url", "https://status.example.com"];
    const server = await site.serve({ args: address });
    const served: unknown = await (await server.fetch("/openapi.json")).json();
    const printed: unknown = JSON.parse(await site.output("openapi", ...address));
    expect(printed).toEqual(served);
    expect(served).toMatchObject({ servers: [{ url: "https://status.example.com" }] });
  });

  test("/openapi.json is valid OpenAPI 3.1", async () => {
    await using site = await createInstallation();
    const server = await site.serve();
    const document = (await (await server.fetch("/openapi.json")).json()) as { openapi: string };
    expect(document.openapi).toStartWith("3.1.");
    // The validator resolves references in what it is given.
    const copy = structuredClone(document) as unknown as Parameters<typeof validate>[0];
    expect(await validate(copy)).toMatchObject({ valid: true, warnings: [] });
  });
});
