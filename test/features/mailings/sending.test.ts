import { expect, test } from "bun:test";
import { SECOND_MS } from "../../../src/base/time";
import { parseMails } from "../../support/parsed-mail";
import { createSendingSite } from "../../support/sending-site";

test("the relay gets one mail for each subscriber of an incident, with links that only that one has", async () => {
  await using sending = await createSendingSite();
  const { site } = sending;
  for (const name of ["anna", "bert", "carl"]) await site.subscribe(name);
  await site.unsubscribe(await site.subscribe("dora"));
  await site.open({ name: "Zahlungen schlagen fehl 🔥" });
  await sending.finish();
  const taken = sending.taken();
  expect(taken.flatMap(({ to }) => to).sort()).toEqual([
    "anna@example.net",
    "bert@example.net",
    "carl@example.net",
  ]);
  const parsed = await parseMails(taken.map(({ text }) => Buffer.from(text)));
  const links = parsed.map(({ defects, headers, parts }) => {
    expect(defects).toEqual([]);
    expect(headers["Subject"]).toEqual(["[Acme] Zahlungen schlagen fehl 🔥"]);
    expect(parts.map(({ type }) => type)).toEqual(["text/plain", "text/html"]);
    return headers["List-Unsubscribe"]?.[0];
  });
  expect(new Set(links).size).toBe(3);
  await site.advance(6 * SECOND_MS);
  expect(site.mailings()).toMatchObject([{ state: "done", written: 3, sent: 3 }]);
});
