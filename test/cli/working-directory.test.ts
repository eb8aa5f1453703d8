import { expect, setDefaultTimeout, test } from "bun:test";
import { createInstallation, PROCESS_TEST_MS } from "../support/binary";

setDefaultTimeout(PROCESS_TEST_MS);

test.each(["development", "production"])(
  "the sources serve pages when run from another folder, with NODE_ENV %s",
  async (environment) => {
    await using site = await createInstallation({ isFromSources: true });
    const server = await site.serve({ env: { NODE_ENV: environment } });
    for (const path of ["/", "/docs", "/admin/sign-in"]) {
      const page = await server.fetch(path);
      expect([path, page.status]).toEqual([path, 200]);
      expect(await page.text()).toStartWith("<!doctype html>");
    }
    expect(await server.stop()).toBe(0);
  },
);
