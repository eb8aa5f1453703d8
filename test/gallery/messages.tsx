import { MINUTE_MS, toIso } from "../../src/kernel/time";
import { Card, Flash, Notice, Section, Timeline } from "../../src/ui";

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
              title: "Resolved",
              at: toIso(now - 2 * MINUTE_MS),
              status: "operational",
              body: "All payments go through again.",
            },
            {
              title: "Identified",
              at: toIso(now - 30 * MINUTE_MS),
              status: "partial_outage",
              body: "A payment provider rejects about one in five cards. We have moved new payments to our second provider and are watching the rate fall.",
            },
            { title: "Reported", at: toIso(now - 49 * MINUTE_MS) },
          ]}
        />
      </Card>
    </Section>
  );
}
