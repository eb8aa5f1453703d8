import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, toIso } from "../../kernel/time";
import { COMPONENT_STATUSES } from "../../kernel/component-status";
import { CHECK_OUTCOMES, MONITOR_STATES } from "../../kernel/monitor-state";
import {
  Actions,
  Button,
  ButtonLink,
  Card,
  CheckLabel,
  Chip,
  Chips,
  CodeBlock,
  Columns,
  DialogBody,
  EmptyState,
  Facts,
  Flash,
  type HtmlDocument,
  type LinkedAssets,
  Moment,
  MonitorLabel,
  Notice,
  PageHead,
  Pagination,
  Secret,
  Section,
  StatusLabel,
  Tabs,
  TestKey,
  Timeline,
  WithChip,
  WordMark,
} from "../../ui";
import { DesignCharts } from "./charts";
import { DesignForms } from "./forms";
import { DesignPictures } from "./pictures";
import { DesignOrder } from "./order";
import { DesignRows } from "./rows";
import { DesignTable } from "./table";
import { DesignWriting } from "./writing";
import { ACCOUNT_PATH, HOME_PATH, KEYS_PATH, USERS_PATH } from "../paths";
import { renderScreen } from "../shell";

const PATH = "/admin/_design";
// Of the right length, and nobody's.
const VALUE = "allclear_9fQ2mZk3v7Yt0aB5LxR8wPq1NsD6uHc4GjEoVbT2iKf0W1a2B";

/** Every component in every state on one page, to be judged at a glance. `now` is unix ms. */
export function renderDesign(assets: LinkedAssets, now: number): HtmlDocument {
  return renderScreen({
    title: "Design",
    user: { name: "Ada Lovelace", email: "ada@northwind.example", role: "owner" },
    nav: [
      {
        items: [
          { href: HOME_PATH, label: "Overview", isCurrent: false },
          { href: PATH, label: "Design", isCurrent: true },
        ],
      },
      {
        label: "Settings",
        items: [
          { href: KEYS_PATH, label: "API Keys", isCurrent: false },
          { href: USERS_PATH, label: "Users", isCurrent: false },
          { href: ACCOUNT_PATH, label: "Account", isCurrent: false },
        ],
      },
    ],
    flash: { tone: "success", text: "Deploy bot was revoked. Its next request is refused." },
    warnings: [
      "Requests come through a proxy that is not trusted, so that all of its clients share one limit. Name its network in ALLCLEAR_TRUSTED_PROXIES.",
    ],
    assets,
    children: (
      <>
        <PageHead
          title="Design"
          crumbs={[{ href: HOME_PATH, label: "Dashboard" }, { label: "Development" }]}
          actions={
            <>
              <ButtonLink href={`${PATH}#forms`}>Forms</ButtonLink>
              <ButtonLink href={`${PATH}#dialog`} kind="primary" dialog>
                Open the dialog
              </ButtonLink>
            </>
          }
        >
          Every component in every state, with what the dashboard is made of.{" "}
          <a href="/docs">API reference</a>
        </PageHead>
        <DesignTable path={PATH} now={now} />
        <Pagination newestHref={PATH} olderHref={`${PATH}?cursor=2`} />
        <EmptyState
          title="No keys yet"
          action={
            <ButtonLink href={PATH} kind="primary">
              Create API Key
            </ButtonLink>
          }
        >
          Programs use keys to read and update your status pages. The first one takes a minute.
        </EmptyState>
        <Words now={now} />
        <Messages now={now} />
        <DesignForms path={PATH} />
        <DesignRows path={PATH} />
        <DesignWriting path={PATH} />
        <DesignPictures path={PATH} icon={assets.icon} />
        <DesignOrder path={PATH} />
        <DesignCharts now={now} />
        <Keys />
        <Section title="Dialog">
          <div id="dialog">
            <DialogBody title="Revoke Deploy bot?">
              <p>
                It made 1,204 requests in the last day. Its next one is refused. A revoked key stays
                in the list and cannot be brought back.
              </p>
              <form method="post" action={PATH}>
                <Actions>
                  <Button kind="danger">Revoke key</Button>
                  <ButtonLink href={PATH} closesDialog>
                    Keep it
                  </ButtonLink>
                </Actions>
              </form>
            </DialogBody>
          </div>
        </Section>
      </>
    ),
  });
}

function Words({ now }: { now: number }) {
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
          <ButtonLink href={PATH}>A link</ButtonLink>
          <ButtonLink href={PATH} isCurrent>
            The current one
          </ButtonLink>
        </Actions>
      </Section>
      <Section title="Tabs">
        <Tabs
          label="Keys"
          items={[
            { href: PATH, label: "Live", count: 12, isCurrent: true },
            { href: `${PATH}?state=revoked`, label: "Revoked", count: 3, isCurrent: false },
            { href: `${PATH}?state=expired`, label: "Expired", isCurrent: false },
          ]}
        />
      </Section>
      <Section title="Small things">
        <Card>
          <Chips>
            <Chip isCode>read:status</Chip>
            <Chip>viewer</Chip>
            <Chip tone="info">This browser</Chip>
            <Chip tone="success">Live</Chip>
            <Chip tone="warning">Unused</Chip>
            <Chip tone="danger">Revoked</Chip>
          </Chips>
          <WithChip chip={<Chip tone="success">This browser</Chip>}>Firefox on Linux</WithChip>
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
                value: <MonitorLabel state={state} />,
              })),
              ...CHECK_OUTCOMES.map((outcome) => ({
                label: outcome,
                value: <CheckLabel outcome={outcome} />,
              })),
            ]}
          />
          <Facts
            items={[
              { label: "Just now", value: <Moment at={ago(0)} now={now} /> },
              { label: "Seconds", value: <Moment at={ago(14 * SECOND_MS)} now={now} /> },
              { label: "Minutes", value: <Moment at={ago(4 * MINUTE_MS)} now={now} /> },
              { label: "Stale", value: <Moment at={ago(104 * DAY_MS)} now={now} tone="warning" /> },
              { label: "To come", value: <Moment at={ago(-3 * DAY_MS)} now={now} /> },
              {
                label: "About to end",
                value: <Moment at={ago(-5 * HOUR_MS)} now={now} tone="danger" />,
              },
            ]}
          />
          <Actions>
            <WordMark />
            <WordMark isClear={false} />
          </Actions>
        </Card>
      </Section>
    </>
  );
}

function Messages({ now }: { now: number }) {
  return (
    <Section title="Messages">
      <Notice tone="info" title="This key belongs to somebody else">
        Lin made it. You may edit and revoke it.
      </Notice>
      <Notice tone="success">The public address is now https://status.northwind.example.</Notice>
      <Notice tone="warning" title="The old value still works">
        It was last used 4 min ago. It ends in 56 min. <a href={PATH}>End it now</a>
      </Notice>
      <Notice tone="danger" title="The key was not created">
        The database is full. What you typed is still in the form.
      </Notice>
      <Flash message={{ tone: "info", text: "Nothing was changed." }} />
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

function Keys() {
  const curl = `curl -H "Authorization: Bearer ${VALUE}" \\\n  https://status.northwind.example/api/v1/key`;
  return (
    <Section title="A key, shown once">
      <Columns
        aside={
          <Card title="What now">
            <p class="muted">
              Put it where the program reads its secrets. It cannot be shown again.
            </p>
          </Card>
        }
      >
        <Card title="Copy the key now">
          <p class="muted">It is shown this once. Only its hash is kept.</p>
          <Secret text={VALUE} copyLabel="Copy key" />
          <CodeBlock text={curl} isSecret />
          <TestKey />
        </Card>
        <CodeBlock text="npx -y bun@1.4.5 start" />
      </Columns>
    </Section>
  );
}
