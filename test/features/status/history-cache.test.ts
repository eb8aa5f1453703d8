import { expect, test } from "bun:test";
import { listComponentsOfPage } from "../../../src/features/components/store";
import { findPageBySlug } from "../../../src/features/pages/store";
import { createHistoryCache } from "../../../src/features/status/histories";
import { DAY_MS } from "../../../src/base/time";
import { createLargePage } from "../../support/large-page";
import { statementsOf } from "../../support/monitor-store";

test.each([90, 365])(
  "the histories of 1,000 components over %d days are not read again after they were prepared",
  async (historyDays) => {
    await using large = await createLargePage();
    const { ctx, clock } = large.app;
    await clock.advance(2 * DAY_MS);
    const page = findPageBySlug(ctx.db, { slug: "large" });
    if (!page) throw new Error("the page is missing");
    const query = {
      page: { ...page, historyDays },
      components: listComponentsOfPage(ctx.db, { pageId: page.id }),
      open: new Map(),
      now: clock.now(),
      isShared: false,
    };
    const histories = createHistoryCache();
    const onlyGaps = statementsOf(ctx.db, (reader) =>
      histories.read(reader, { ...query, components: [] }),
    );
    for (const _ of histories.steps(ctx.db, query));
    expect(statementsOf(ctx.db, (reader) => histories.read(reader, query))).toEqual(onlyGaps);
  },
);
