/**
 * Building blocks of pages: design tokens, status shapes, components, HTML documents and their
 * linked files. Everything works without a script; `client.js` adds comfort. `Day`, `DayBars`,
 * `SelectField`, `Tabs`, `Timeline` and `Toolbar` are for the screens of incidents.
 */
export { assetPath, type Assets, type AssetSource, createAssets } from "./assets";
export { BarChart } from "./bar-chart";
export { Card } from "./card";
export { Chip, Chips, WithChip } from "./chip";
export { CodeBlock, Secret, TestKey } from "./code-block";
export { minifyCss } from "./css";
export { DayBars } from "./day-bars";
export { DayChart } from "./day-chart";
export { type DayRun, runsOf, type StatusDay } from "./day-runs";
export { DayTable } from "./day-table";
export { type HtmlDocument, renderDocument } from "./document";
export { EmptyState } from "./empty-state";
export { FieldRows, type RowControl } from "./field-rows";
export { Fold } from "./fold";
export { ErrorSummary } from "./error-summary";
export { type LinkedAssets, renderLinkedDocument } from "./linked-document";
export { type ChartPoint, LineChart } from "./line-chart";
export { Logo } from "./logo";
export { Day, RelativeTime } from "./relative-time";
export { CheckLabel, MONITOR_WORDS, MonitorLabel } from "./monitor-label";
export { Flash, Notice, FormNotice } from "./notice";
export { OrderList, OrderPart, OrderRow } from "./order-list";
export { createPageCache } from "./page-cache";
export { PageHead } from "./page-head";
export { Pagination } from "./pagination";
export { PlainPage } from "./plain-page";
export { safeHref } from "./safe-href";
export { IndicatorShape, STATUS_WORDS, StatusLabel } from "./shapes";
export { SideBySide } from "./side-by-side";
export { Sparkline } from "./sparkline";
export { StatCard, StatCards } from "./stat-card";
export { Swatch } from "./swatch";
export { Cell, CellNote, type Column, OneLine, Row, RowLink, Table } from "./table";
export { Tabs } from "./tabs";
export { Timeline, type TimelineItem } from "./timeline";
export { type Tone } from "./tone-icon";
export { linkedAssets, UI_ASSETS } from "./ui-assets";
export { WordMark } from "./word-mark";
export { Button, ButtonLink, PostButton } from "./buttons";
export { Checkbox, CheckboxList, CheckRows, ChoiceField, RadioList, Summary } from "./choices";
export { FilterDate, FilterSelect, SearchForm, Toolbar } from "./filters";
export { Actions, DialogForm, Form, HiddenFields } from "./form";
export { DateTimeField, FileField, TextArea, TextField } from "./inputs";
export { Columns, Facts, Section } from "./layout";
export { SelectField, SelectRows } from "./selects";
export { duration, exactTime, longDay, relativeTime, shortDay, zoneSpan } from "./times";
