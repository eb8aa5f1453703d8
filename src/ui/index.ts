/**
 * Building blocks of pages: design tokens, status shapes, components, HTML documents and their
 * linked files. Everything works without a script; `client.js` adds comfort. `Day`, `DayBars`,
 * `SelectField`, `Tabs`, `Timeline` and `Toolbar` are for the screens of incidents.
 */
export { assetPath, type Assets, type AssetSource, createAssets } from "./assets";
export { BarChart } from "./bar-chart";
export { CodeBlock, Secret, TestKey } from "./code-block";
export { minifyCss } from "./css";
export { DayBars } from "./day-bars";
export { DayChart } from "./day-chart";
export { type DayRun, runsOf, type StatusDay } from "./day-runs";
export { DayTable } from "./day-table";
export { type HtmlDocument, renderDocument } from "./document";
export { FieldRows, type RowControl } from "./field-rows";
export { type LinkedAssets, renderLinkedDocument } from "./linked-document";
export { type ChartPoint, LineChart } from "./line-chart";
export { Day, RelativeTime } from "./relative-time";
export { OrderList, OrderPart, OrderRow } from "./order-list";
export { createPageCache } from "./page-cache";
export { PlainPage } from "./plain-page";
export { safeHref } from "./safe-href";
export { Sparkline } from "./sparkline";
export { Cell, CellNote, type Column, OneLine, Row, RowLink, Table } from "./table";
export { linkedAssets, UI_ASSETS } from "./ui-assets";
export { Button, ButtonLink, PostButton } from "./buttons";
export { Checkbox, CheckboxList, CheckRows, ChoiceField, RadioList, Summary } from "./choices";
export { FilterDate, FilterSelect, SearchForm, Toolbar } from "./filters";
export { Actions, DialogForm, Form, HiddenFields } from "./form";
export { DateTimeField, FileField, TextArea, TextField } from "./inputs";
export { SelectField, SelectRows } from "./selects";
export { duration, exactTime, longDay, relativeTime, shortDay, zoneSpan } from "./times";
export {
  Card,
  Columns,
  EmptyState,
  Facts,
  Fold,
  Section,
  SideBySide,
  StatCard,
  StatCards,
  Timeline,
  type TimelineItem,
} from "./blocks";
export {
  CheckLabel,
  Chip,
  Chips,
  IndicatorShape,
  MONITOR_WORDS,
  MonitorLabel,
  STATUS_WORDS,
  StatusLabel,
  WithChip,
} from "./labels";
export { PageHead, Pagination, Tabs } from "./navigation";
export { ErrorSummary, Flash, FormNotice, Notice } from "./notices";
export { Logo, Swatch, type Tone, WordMark } from "./pictures";
