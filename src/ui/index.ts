/**
 * UI components, design tokens, HTML documents and their linked files. Everything works without a script;
 * `client.js` adds convenience.
 */
export {
  assetPath,
  type Assets,
  type AssetSource,
  createAssets,
  linkedAssets,
  UI_ASSETS,
  withoutComments,
} from "./assets";
export { BarChart } from "./bar-chart";
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
} from "./blocks";
export { Button, ButtonLink, PostButton } from "./buttons";
export { Checkbox, CheckboxList, CheckRows, ChoiceField, RadioList, Summary } from "./choices";
export { CodeBlock, Secret, TestKey } from "./code-block";
export { DayBars, DayChart, DayTable } from "./day-charts";
export { DenseRow, DenseTable, FigureCell, NameCell, PickCell, TextCell } from "./dense-table";
export { type DayRun, runsOf, type StatusDay } from "./day-runs";
export {
  createPageCache,
  type HtmlDocument,
  type LinkedAssets,
  PlainPage,
  renderDocument,
  renderLinkedDocument,
} from "./documents";
export { FieldError, fieldId } from "./field";
export { FieldRows, type RowControl } from "./field-rows";
export { FilterDate, FilterSelect } from "./filters";
export { Actions, DialogForm, Form, HiddenFields } from "./form";
export { HalfHourBars } from "./half-hour-bars";
export { DateTimeField, FileField, TextArea, TextField } from "./inputs";
export {
  CheckLabel,
  Chip,
  Chips,
  MONITOR_WORDS,
  MonitorLabel,
  Shape,
  State,
  STATUS_WORDS,
  StatusLabel,
  WithChip,
} from "./labels";
export { Icon, type IconName, spriteFor } from "./icons";
export { BulkBar, ListCard, ListToolbar } from "./list-tools";
export { PageHead, Pagination, Tabs } from "./navigation";
export { ErrorSummary, Flash, FormNotice, Notice } from "./notices";
export { OrderList, OrderPart, OrderRow } from "./order-list";
export { Logo, ringIcon, ringIconUrl, StatusRing, Swatch, WordMark } from "./pictures";
export { ClockTime, Day, DayTime, RelativeTime, SecondTime } from "./relative-time";
export { safeHref } from "./safe-href";
export { SelectField, SelectRows } from "./selects";
export { Sparkline } from "./sparkline";
export { StepBar } from "./step-bar";
export { UptimeChart, type UptimePoint } from "./uptime-chart";
export { minifyCss } from "./style-sheet";
export { Cell, CellNote, OneLine, Row, RowLink, Table } from "./table";
export { TimeChart, type TimeBand, type TimePoint } from "./time-chart";
export { Phases, Timeline } from "./timeline";
export { DetailCard, DetailRow, HeadFacts, HeadFact, MoreMenu, MoreRows, Numbers } from "./detail";
export {
  duration,
  exactTime,
  longDay,
  relativeTime,
  secondTime,
  shortDay,
  zoneSpan,
  zoneTime,
} from "./times";
