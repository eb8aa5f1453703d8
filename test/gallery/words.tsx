import { CHECK_OUTCOMES, COMPONENT_STATUSES, MONITOR_STATES } from "../../src/base/status";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, toIso } from "../../src/base/time";
import { Actions } from "../../src/ui/form";
import { Button, ButtonLink } from "../../src/ui/buttons";
import {
  Card,
  CheckLabel,
  Chip,
  Chips,
  Facts,
  MonitorLabel,
  Section,
  StatusLabel,
  WithChip,
} from "../../src/ui/blocks";
import { RelativeTime } from "../../src/ui/times";
import { Tabs } from "../../src/ui/navigation";
import { WordMark } from "../../src/ui/pictures";

/** Buttons, tabs and inline elements. `now` is in unix ms. */
export function GalleryWords({ path, now }: { path: string; now: number }) {
  const ago = (ms: number) => toIso(now - ms);
  return (
    <>
      <Section title="Buttons">
        <Actions>
          <Button kind="primary" type="button">
            Create API Key
          </Button>
          <Button type="button">Rename</Button>
          <Button kind="danger" type="button">
            Revoke key
          </Button>
          <ButtonLink href={path}>A link</ButtonLink>
          <ButtonLink href={path} isCurrent>
            The current one
          </ButtonLink>
        </Actions>
      </Section>
      <Section title="Tabs">
        <Tabs
          label="Keys"
          items={[
            { href: path, label: "Live", count: 12, isCurrent: true },
            { href: `${path}?state=revoked`, label: "Revoked", count: 3, isCurrent: false },
            { href: `${path}?state=expired`, label: "Expired", isCurrent: false },
          ]}
        />
      </Section>
      <Section title="Small things">
        <Card>
          <Chips>
            <Chip isCode>read:status</Chip>
            <Chip>viewer</Chip>
            <Chip tone="maint">This browser</Chip>
            <Chip tone="ok">Live</Chip>
            <Chip tone="degraded">Unused</Chip>
            <Chip tone="major">Revoked</Chip>
          </Chips>
          <WithChip chip={<Chip tone="ok">This browser</Chip>}>Firefox on Linux</WithChip>
          <Facts
            items={COMPONENT_STATUSES.map((status) => ({
              label: status,
              value: <StatusLabel status={status} />,
            }))}
          />
          <Facts
            items={[
              ...MONITOR_STATES.map((state) => ({
                label: state,
                value: <MonitorLabel state={state} type="http" />,
              })),
              ...CHECK_OUTCOMES.map((outcome) => ({
                label: outcome,
                value: <CheckLabel outcome={outcome} />,
              })),
            ]}
          />
          <Facts
            items={[
              { label: "Just now", value: <RelativeTime at={ago(0)} now={now} /> },
              { label: "Seconds", value: <RelativeTime at={ago(14 * SECOND_MS)} now={now} /> },
              { label: "Minutes", value: <RelativeTime at={ago(4 * MINUTE_MS)} now={now} /> },
              {
                label: "Stale",
                value: <RelativeTime at={ago(104 * DAY_MS)} now={now} tone="degraded" />,
              },
              { label: "To come", value: <RelativeTime at={ago(-3 * DAY_MS)} now={now} /> },
              {
                label: "About to end",
                value: <RelativeTime at={ago(-5 * HOUR_MS)} now={now} tone="major" />,
              },
            ]}
          />
          <Actions>
            <WordMark />
          </Actions>
        </Card>
      </Section>
    </>
  );
}
