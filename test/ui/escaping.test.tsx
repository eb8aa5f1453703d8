import { describe, expect, test } from "bun:test";
import { renderToString } from "preact-render-to-string";
import type { VNode } from "preact";
import { renderPlainScreen, renderScreen } from "../../src/ui/frame/shell";
import { Button, ButtonLink } from "../../src/ui/buttons";
import {
  Card,
  Chip,
  CodeBlock,
  EmptyState,
  ErrorSummary,
  Facts,
  Flash,
  FormNotice,
  Notice,
  Secret,
  Section,
  StatCard,
  Timeline,
  WithChip,
} from "../../src/ui/blocks";
import { Cell, CellNote, ListToolbar, OneLine, Row, RowLink, Table } from "../../src/ui/list";
import { CheckboxList, ChoiceField, RadioList, SelectField, Summary } from "../../src/ui/choices";
import { DayBars } from "../../src/ui/day-charts";
import { DialogForm, Form, TextField } from "../../src/ui/form";
import { PageHead, Tabs } from "../../src/ui/navigation";
import { PlainPage } from "../../src/ui/documents";
import { Sparkline } from "../../src/ui/charts";

const EVIL = `"'><script>alert(1)</script>`;
const AT = "2026-11-21T14:32:05.000Z";
const NOW = Date.parse(AT);
const ASSETS = {
  style: "/assets/a.css",
  script: "/assets/a.js",
  icon: "/assets/ring.svg",
  manifest: "/m",
};
const FIELD = { label: EVIL, name: EVIL, hint: EVIL, error: EVIL };
const GROUP = { legend: EVIL, name: EVIL, hint: EVIL, error: EVIL };
const OPTION = { value: EVIL, label: EVIL };

/** Each component with a hostile text in every place that takes one. */
const COMPONENTS: Record<string, VNode> = {
  Button: (
    <Button name={EVIL} value={EVIL} preset={{ [EVIL]: [EVIL] }}>
      {EVIL}
    </Button>
  ),
  ButtonLink: (
    <ButtonLink href="/" title={EVIL}>
      {EVIL}
    </ButtonLink>
  ),
  TextField: <TextField {...FIELD} value={EVIL} />,
  SelectField: <SelectField {...FIELD} options={[OPTION]} value={EVIL} />,
  CheckboxList: (
    <CheckboxList
      {...GROUP}
      options={[{ ...OPTION, hint: EVIL, details: EVIL, isChecked: true }]}
    />
  ),
  ChoiceField: (
    <ChoiceField {...GROUP} options={[OPTION]} value={EVIL}>
      {EVIL}
    </ChoiceField>
  ),
  ErrorSummary: <ErrorSummary errors={[{ name: EVIL, label: EVIL, detail: EVIL }]} />,
  Form: (
    <Form action="/" hidden={{ [EVIL]: EVIL }}>
      {EVIL}
    </Form>
  ),
  RadioList: <RadioList {...GROUP} options={[{ ...OPTION, hint: EVIL }]} value={EVIL} />,
  ListToolbar: (
    <ListToolbar
      action="/"
      search={{ value: EVIL, label: EVIL, placeholder: EVIL }}
      hidden={{ [EVIL]: EVIL }}
      count={EVIL}
    />
  ),
  Chip: <Chip>{EVIL}</Chip>,
  WithChip: <WithChip chip={EVIL}>{EVIL}</WithChip>,
  Card: (
    <Card title={EVIL} actions={EVIL}>
      {EVIL}
    </Card>
  ),
  StatCard: <StatCard label={EVIL} value={1} />,
  Table: (
    <Table caption={EVIL} columns={[{ label: EVIL }]}>
      <Row>
        <Cell label={EVIL}>
          <RowLink href="/">{EVIL}</RowLink>
          <CellNote>{EVIL}</CellNote>
          <OneLine>{EVIL}</OneLine>
        </Cell>
      </Row>
    </Table>
  ),
  EmptyState: (
    <EmptyState title={EVIL} action={EVIL}>
      {EVIL}
    </EmptyState>
  ),
  Notice: (
    <Notice tone="maint" title={EVIL}>
      {EVIL}
    </Notice>
  ),
  FormNotice: <FormNotice>{EVIL}</FormNotice>,
  Flash: <Flash message={{ tone: "maint", text: EVIL }} />,
  Tabs: <Tabs label={EVIL} items={[{ href: "/", label: EVIL, isCurrent: true }]} />,
  Timeline: (
    <Timeline
      now={NOW}
      items={[{ key: EVIL, title: EVIL, at: AT, tone: "none", by: EVIL, body: EVIL }]}
    />
  ),
  DayBars: (
    <DayBars
      name={EVIL}
      note={EVIL}
      days={[{ day: "2026-11-21", status: null, goodShare: 1, minutes: {} }]}
    />
  ),
  Sparkline: <Sparkline values={[1]} label={EVIL} />,
  CodeBlock: <CodeBlock text={EVIL} copyLabel={EVIL} />,
  Secret: <Secret text={EVIL} copyLabel={EVIL} />,
  PageHead: (
    <PageHead title={EVIL} crumbs={[{ href: "/", label: EVIL }]} actions={EVIL}>
      {EVIL}
    </PageHead>
  ),
  PlainPage: (
    <PlainPage title={EVIL} foot={EVIL}>
      {EVIL}
    </PlainPage>
  ),
  DialogForm: (
    <DialogForm
      title={EVIL}
      action="/"
      hidden={{ [EVIL]: EVIL }}
      button={EVIL}
      cancelHref="/"
      cancel={EVIL}
    >
      {EVIL}
    </DialogForm>
  ),
  Section: (
    <Section title={EVIL} actions={EVIL}>
      {EVIL}
    </Section>
  ),
  Facts: <Facts items={[{ label: EVIL, value: EVIL }]} />,
  Summary: (
    <Summary title={EVIL} field={EVIL} lines={[EVIL]} emptyLine={EVIL}>
      {EVIL}
    </Summary>
  ),
};

describe("escaping of hostile text", () => {
  test.each(Object.entries(COMPONENTS))(
    "the component %s escapes hostile text",
    (_name, component) => {
      const html = renderToString(component);
      expect(html).toContain("&lt;script");
      expect(html).not.toContain("<script");
      // Nor does a quote end an attribute.
      expect(html).not.toContain(`"'`);
    },
  );

  test("title and frame of a screen escape hostile text", () => {
    const { html } = renderScreen({
      title: EVIL,
      user: { name: EVIL, email: EVIL, role: "viewer", timeZone: "UTC" },
      places: [{ href: "/", label: EVIL, icon: "globe", role: "viewer" }],
      path: "/",
      side: {
        worst: { name: EVIL, path: "/", headline: EVIL, tone: "ok" },
        otherPages: 0,
        attention: {},
      },
      now: 0,
      flash: { tone: "maint", text: EVIL },
      warnings: [EVIL],
      assets: ASSETS,
      children: EVIL,
    });
    expect(html.match(/<script/g)).toHaveLength(1);
    const plain = renderPlainScreen({ title: EVIL, assets: ASSETS, children: EVIL });
    expect(plain.html.match(/<script/g)).toHaveLength(1);
  });
});
