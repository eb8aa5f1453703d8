import { expect, test } from "bun:test";
import { join } from "node:path";
import { readFileSync } from "node:fs";
import { createTestApp } from "../../support/app";
import { temporaryFolder } from "../../support/temporary-folder";

test("an API key that is also sent as Idempotency-Key is not stored", async () => {
  using folder = temporaryFolder();
  const databasePath = join(folder.path, "allclear.db");
  const value = await (async () => {
    await using app = await createTestApp({ databasePath });
    await app.page();
    const key = await app.keyWith("write:incidents");
    const sent = {
      key,
      method: "POST",
      json: { page: "acme", name: "Slow", body: "We look into it." },
      headers: { "idempotency-key": key },
    };
    expect((await app.call("/api/v1/incidents", sent)).status).toBe(201);
    const again = await app.call("/api/v1/incidents", sent);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    return key;
  })();
  expect(readFileSync(databasePath).includes(value)).toBe(false);
});
