import { describe, expect, test } from "bun:test";
import { createReplicaPair } from "../../support/fleet/replica-pair";
import { readHtml } from "../../support/html";
import { TEST_START } from "../../support/clock";

const lineOf = (text: string) => readHtml(text).texts(".strip").join();

describe("a page of a replica without a sign of the primary", () => {
  test("shows the time of its data after a minute, and no line once the primary is back", async () => {
    await using pair = await createReplicaPair();
    await pair.primary.page();
    const { clock } = pair.primary;
    const version = async () => (await pair.call("/status/acme/version")).text;
    const fresh = await version();
    const first = await pair.call("/status/acme");
    await clock.advance(59_000);
    expect(lineOf((await pair.call("/status/acme")).text)).toBe("");
    await clock.advance(1_000);
    const late = await pair.call("/status/acme");
    expect(lineOf(late.text)).toBe("Shown as of 12:00 UTC. Updates are delayed.");
    expect(late.headers.get("etag")).not.toBe(first.headers.get("etag"));
    expect(late.headers.get("allclear-as-of")).toBe("2026-03-10T12:00:00.000Z");
    // Open tabs refresh.
    expect(await version()).not.toBe(fresh);
    for (const path of ["/status/acme/history", "/status/acme/incidents"]) {
      expect(lineOf((await pair.call(path)).text)).toContain("12:00 UTC");
    }
    pair.state.asOf = clock.now();
    await clock.advance(1_000);
    expect(lineOf((await pair.call("/status/acme")).text)).toBe("");
  });

  test("is made once while the time stays the same", async () => {
    await using pair = await createReplicaPair();
    await pair.primary.page();
    await pair.primary.clock.advance(61_000);
    const { headers } = await pair.call("/status/acme");
    await pair.primary.clock.advance(20_000);
    const again = await pair.call("/status/acme", {
      headers: { "if-none-match": headers.get("etag") ?? "" },
    });
    expect(again.status).toBe(304);
  });

  test("names the day of data of yesterday", async () => {
    await using pair = await createReplicaPair();
    await pair.primary.page();
    await pair.primary.clock.advance(13 * 3_600_000);
    expect(lineOf((await pair.call("/status/acme")).text)).toContain("10 Mar 2026");
  });

  test("shows the line in the language of the page, or in English", async () => {
    await using pair = await createReplicaPair();
    await pair.primary.page({ slug: "de", locale: "de-AT" });
    await pair.primary.page({ slug: "fi", locale: "fi" });
    await pair.primary.page({ slug: "hu", locale: "hu" });
    pair.state.asOf = TEST_START - 3_600_000;
    await pair.primary.clock.advance(1_000);
    const german = (await pair.call("/status/de")).text;
    expect(lineOf(german)).toBe("Stand: 11:00 UTC. Aktualisierungen sind verzögert.");
    expect(german).toContain('<html lang="de-AT"');
    expect(lineOf((await pair.call("/status/fi")).text)).toContain("viiv");
    const hungarian = (await pair.call("/status/hu")).text;
    expect(lineOf(hungarian)).toContain("Updates are delayed.");
    expect(hungarian).toContain('<html lang="en"');
  });

  test("one machine shows no line, however old its data is", async () => {
    await using pair = await createReplicaPair();
    await pair.primary.page();
    await pair.primary.clock.advance(3_600_000);
    expect(lineOf((await pair.primary.call("/status/acme")).text)).toBe("");
  });
});
