import { describe, expect, test } from "bun:test";
import { renderToString } from "preact-render-to-string";
import type { VNode } from "preact";
import { renderPlainScreen, renderScreen } from "../../src/admin/shell";
import * as ui from "../../src/ui";

const EVIL = `"'><script>alert(1)</script>`;
const AT = "2026-11-21T14:32:05.000Z";
const NOW = Date.parse(AT);
const ASSETS = { style: "/assets/a.css", script: "/assets/a.js", icon: "/assets/ring.svg" };
const FIELD = { label: EVIL, name: EVIL, hint: EVIL, error: EVIL };
const GROUP = { legend: EVIL, name: EVIL, hint: EVIL, error: EVIL };
const OPTION = { value: EVIL, label: EVIL };

/** Each component with a hostile text in every place that takes one. */
const COMPONENTS: Record<string, VNode> = {
  Button: (
    <ui.Button name={EVIL} value={EVIL} preset={{ [EVIL]: [EVIL] }}>
      {EVIL}
    </ui.Button>
  ),
  ButtonLink: (
    <ui.ButtonLink href="/" title={EVIL}>
      {EVIL}
    </ui.ButtonLink>
  ),
  TextField: <ui.TextField {...FIELD} value={EVIL} />,
  SelectField: <ui.SelectField {...FIELD} options={[OPTION]} value={EVIL} />,
  CheckboxList: (
    <ui.CheckboxList
      {...GROUP}
      options={[{ ...OPTION, hint: EVIL, details: EVIL, isChecked: true }]}
    />
  ),
  ChoiceField: (
    <ui.ChoiceField {...GROUP} options={[OPTION]} value={EVIL}>
      {EVIL}
    </ui.ChoiceField>
  ),
  ErrorSummary: <ui.ErrorSummary errors={[{ name: EVIL, label: EVIL, detail: EVIL }]} />,
  Form: (
    <ui.Form action="/" hidden={{ [EVIL]: EVIL }}>
      {EVIL}
    </ui.Form>
  ),
  RadioList: <ui.RadioList {...GROUP} options={[{ ...OPTION, hint: EVIL }]} value={EVIL} />,
  ListToolbar: (
    <ui.ListToolbar
      action="/"
      search={{ value: EVIL, label: EVIL, placeholder: EVIL }}
      hidden={{ [EVIL]: EVIL }}
      count={EVIL}
    />
  ),
  Chip: <ui.Chip>{EVIL}</ui.Chip>,
  WithChip: <ui.WithChip chip={EVIL}>{EVIL}</ui.WithChip>,
  Card: (
    <ui.Card title={EVIL} actions={EVIL}>
      {EVIL}
    </ui.Card>
  ),
  StatCard: <ui.StatCard label={EVIL} value={1} />,
  Table: (
    <ui.Table caption={EVIL} columns={[{ label: EVIL }]}>
      <ui.Row>
        <ui.Cell label={EVIL}>
          <ui.RowLink href="/">{EVIL}</ui.RowLink>
          <ui.CellNote>{EVIL}</ui.CellNote>
          <ui.OneLine>{EVIL}</ui.OneLine>
        </ui.Cell>
      </ui.Row>
    </ui.Table>
  ),
  EmptyState: (
    <ui.EmptyState title={EVIL} action={EVIL}>
      {EVIL}
    </ui.EmptyState>
  ),
  Notice: (
    <ui.Notice tone="maint" title={EVIL}>
      {EVIL}
    </ui.Notice>
  ),
  FormNotice: <ui.FormNotice>{EVIL}</ui.FormNotice>,
  Flash: <ui.Flash message={{ tone: "maint", text: EVIL }} />,
  Tabs: <ui.Tabs label={EVIL} items={[{ href: "/", label: EVIL, isCurrent: true }]} />,
  Timeline: (
    <ui.Timeline
      now={NOW}
      items={[{ key: EVIL, title: EVIL, at: AT, tone: "none", by: EVIL, body: EVIL }]}
    />
  ),
  DayBars: (
    <ui.DayBars
      name={EVIL}
      note={EVIL}
      days={[{ day: "2026-11-21", status: null, goodShare: 1, minutes: {} }]}
    />
  ),
  Sparkline: <ui.Sparkline values={[1]} label={EVIL} />,
  CodeBlock: <ui.CodeBlock text={EVIL} copyLabel={EVIL} />,
  Secret: <ui.Secret text={EVIL} copyLabel={EVIL} />,
  PageHead: (
    <ui.PageHead title={EVIL} crumbs={[{ href: "/", label: EVIL }]} actions={EVIL}>
      {EVIL}
    </ui.PageHead>
  ),
  PlainPage: (
    <ui.PlainPage title={EVIL} foot={EVIL}>
      {EVIL}
    </ui.PlainPage>
  ),
  DialogForm: (
    <ui.DialogForm
      title={EVIL}
      action="/"
      hidden={{ [EVIL]: EVIL }}
      button={EVIL}
      cancelHref="/"
      cancel={EVIL}
    >
      {EVIL}
    </ui.DialogForm>
  ),
  Section: (
    <ui.Section title={EVIL} actions={EVIL}>
      {EVIL}
    </ui.Section>
  ),
  Facts: <ui.Facts items={[{ label: EVIL, value: EVIL }]} />,
  Summary: (
    <ui.Summary title={EVIL} field={EVIL} lines={[EVIL]} emptyLine={EVIL}>
      {EVIL}
    </ui.Summary>
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
      user: { name: EVIL, email: EVIL, role: "viewer" },
      nav: [
        {
          label: EVIL,
          links: [{ href: "/", label: EVIL, icon: "globe", isCurrent: true, letter: "x" }],
        },
      ],
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
