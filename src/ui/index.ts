/**
 * What pages are made of: the tokens, the shapes of the statuses, the components, the documents around
 * a page and the files that they link to. Everything works without a script; `client.js` adds comfort.
 * `Day`, `DayBars`, `SelectField`, `Tabs`, `Timeline` and `Toolbar` are for the screens of incidents.
 */
export { assetPath, type Assets, type AssetSource, createAssets } from "./assets";
export { Button, ButtonLink } from "./button";
export { Card } from "./card";
export { CheckRows } from "./check-rows";
export { Checkbox } from "./checkbox";
export { CheckboxList } from "./checkbox-list";
export { Chip, Chips, WithChip } from "./chip";
export { ChoiceField } from "./choice-field";
export { CodeBlock, Secret, TestKey } from "./code-block";
export { minifyCss } from "./css";
export { DayBars } from "./day-bars";
export { DayChart } from "./day-chart";
export { type DayRun, runsOf, type StatusDay } from "./day-runs";
export { DayTable } from "./day-table";
export { DialogBody } from "./dialog-body";
export { type HtmlDocument, renderDocument } from "./document";
export { EmptyState } from "./empty-state";
export { FileField } from "./file-field";
export { FilterSelect } from "./filter-select";
export { Fold } from "./fold";
export { Actions, Form, HiddenFields } from "./form";
export { FormErrors } from "./form-errors";
export { Columns, Facts, Section, Toolbar } from "./layout";
export { type LinkedAssets, renderLinkedDocument } from "./linked-document";
export { Logo } from "./logo";
export { Day, Moment } from "./moment";
export { MomentField } from "./moment-field";
export { Flash, Notice, Refusal } from "./notice";
export { OrderList, OrderPart, OrderRow } from "./order-list";
export { PageHead } from "./page-head";
export { Pagination } from "./pagination";
export { PlainPage } from "./plain-page";
export { PostButton } from "./post-button";
export { RadioList } from "./radio-list";
export { safeHref } from "./safe-href";
export { SearchForm } from "./search-form";
export { SelectField } from "./select-field";
export { SelectRows } from "./select-rows";
export { IndicatorShape, STATUS_WORDS, StatusLabel } from "./shapes";
export { Sparkline } from "./sparkline";
export { StatCard, StatCards } from "./stat-card";
export { Summary } from "./summary";
export { Swatch } from "./swatch";
export { Cell, CellNote, type Column, OneLine, Row, RowLink, Table } from "./table";
export { Tabs } from "./tabs";
export { TextArea } from "./text-area";
export { TextField } from "./text-field";
export { Timeline, type TimelineItem } from "./timeline";
export { duration, exactTime, longDay, relativeTime, shortDay } from "./times";
export { type Tone } from "./tone-icon";
export { linkedAssets, UI_ASSETS } from "./ui-assets";
export { WordMark } from "./word-mark";
export { zoneSpan } from "./zone-time";
