import { MINUTE_MS, toIso } from "../../src/base/time";
import { Card, Flash, Notice, Section, Timeline } from "../../src/ui/blocks";

/** Notices in every tone. `now` is in unix ms. */
export function GalleryMessages({ path, now }: { path: string; now: number }) {
  return (
    <Section title="Messages">
      <Notice tone="maint" title="This key belongs to another user">
        Lin created this key. You may edit and revoke it.
      </Notice>
      <Notice tone="ok">The public address is now https://status.northwind.example.</Notice>
      <Notice tone="degraded" title="The old value still works">
        It was last used 4 min ago. It ends in 56 min. <a href={path}>End it now</a>
      </Notice>
      <Notice tone="major" title="The key was not created">
        The database is full. What you typed is still in the form.
      </Notice>
      <Flash message={{ tone: "maint", text: "Nothing was changed." }} />
      <Card title="Card payments fail for some customers">
        <Timeline
          now={now}
          items={[
            {
              key: "3",
              title: "Resolved",
              at: toIso(now - 2 * MINUTE_MS),
              tone: "partial",
              body: "All payments go through again.",
            },
            {
              key: "2",
              title: "Identified",
              at: toIso(now - 30 * MINUTE_MS),
              tone: "partial",
              by: "Ada Lovelace",
              body: "A payment provider rejects about one in five cards. We have moved new payments to our second provider and are watching the rate fall.",
            },
            { key: "1", title: "Reported", at: toIso(now - 49 * MINUTE_MS), tone: "partial" },
          ]}
        />
      </Card>
    </Section>
  );
}
