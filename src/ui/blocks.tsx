import type { ComponentChildren } from "preact";
import {
  type CheckOutcome,
  COMPONENT_STATUSES,
  type ComponentStatus,
  isTimed,
  MONITOR_TONES,
  type MonitorState,
  type MonitorType,
  STATUS_TONES,
  type Tone,
} from "../base/status";
import { safeHref } from "./buttons";
import { errorSuffix, fieldId } from "./field";
import { Icon, type IconName } from "./icons";
import { ClockTime, EventTime } from "./times";
import { englishWords, useWords } from "./words";

interface SectionProps {
  title: string;
  /** Id that links lead to. */
  id?: string;
  /** Buttons after the title. */
  actions?: ComponentChildren;
  children: ComponentChildren;
}

/** Part of a screen with a heading. */
export function Section({ title, id, actions, children }: SectionProps) {
  return (
    <section class="section" id={id}>
      <div class="section-head">
        <h2>{title}</h2>
        {actions ? <div class="actions">{actions}</div> : null}
      </div>
      {children}
    </section>
  );
}

interface CardProps {
  title?: string;
  /** Buttons after the title. */
  actions?: ComponentChildren;
  children: ComponentChildren;
}

/** Bordered box around related content. */
export function Card({ title, actions, children }: CardProps) {
  return (
    <section class="card panel">
      {title ? (
        <div class="panel-head">
          <h2>{title}</h2>
          {actions ? <div class="actions">{actions}</div> : null}
        </div>
      ) : null}
      {children}
    </section>
  );
}

interface ColumnsProps {
  /** Content of the right column. */
  aside: ComponentChildren;
  /** True if the right column may be higher than the window, so that it must scroll. */
  isTall?: boolean;
  children: ComponentChildren;
}

/** Main content with a narrow column on its right, or below on small screens. */
export function Columns({ aside, isTall, children }: ColumnsProps) {
  return (
    <div class={isTall ? "columns is-tall" : "columns"}>
      <div class="columns-main">{children}</div>
      <aside>{aside}</aside>
    </div>
  );
}

/** Two `Card`s of the same width, below each other on small screens. */
export function SideBySide({ children }: { children: ComponentChildren }) {
  return <div class="side-by-side">{children}</div>;
}

interface FoldProps {
  title: string;
  /** Content in one line, shown while the fold is closed. Given, even if empty, for the further options of a form. */
  line?: string;
  /** True if the fold starts open, as it must if one of its fields has an error. */
  isOpen?: boolean;
  children: ComponentChildren;
}

/** Collapsed content that most people do not need. Works without a script. */
export function Fold({ title, line, isOpen = false, children }: FoldProps) {
  return (
    <details class={line === undefined ? "fold" : "fold options-fold"} open={isOpen}>
      <summary>
        {line === undefined ? (
          title
        ) : (
          <>
            <Icon name="chevron-right" />
            <span>
              {title} {line ? <small>{line}</small> : null}
            </span>
          </>
        )}
      </summary>
      <div class="fold-body">{children}</div>
    </details>
  );
}

interface EmptyStateProps {
  title: string;
  /** Button for the first step. */
  action?: ComponentChildren;
  /** Explanation of the missing content. */
  children: ComponentChildren;
}

/** Replacement of an empty list. */
export function EmptyState({ title, action, children }: EmptyStateProps) {
  return (
    <div class="card empty">
      <h2>{title}</h2>
      <div class="muted">{children}</div>
      {action ? <div class="actions">{action}</div> : null}
    </div>
  );
}

export interface Fact {
  label: string;
  value: ComponentChildren;
  /** True if it spans two columns. */
  isWide?: boolean;
}

/** List of properties, each with its label. */
export function Facts({ items }: { items: readonly Fact[] }) {
  return (
    <dl class="facts">
      {items.map(({ label, value, isWide }) => (
        <div key={label} class={isWide ? "is-wide" : undefined}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

interface StatCardProps {
  label: string;
  value: number;
  /** Screen that lists the counted items. */
  href?: string;
  /** True if the screen is filtered by this figure. */
  isCurrent?: boolean;
}

/** Large number with a label, in `StatCards`. One of zero is left out, unless the screen is filtered by it. */
export function StatCard({ label, value, href, isCurrent }: StatCardProps) {
  if (value === 0 && !isCurrent) return null;
  const content = (
    <>
      <span class="stat-value">{value.toLocaleString("en")}</span>
      <span class="stat-label">{label}</span>
    </>
  );
  if (href === undefined) return <div class="card stat">{content}</div>;
  return (
    <a class="card stat" href={safeHref(href)} aria-current={isCurrent ? "true" : undefined}>
      {content}
    </a>
  );
}

/** Row of `StatCard`s. */
export function StatCards({ children }: { children: ComponentChildren }) {
  return <div class="stats">{children}</div>;
}

/** English names of component statuses, for the dashboard. */
export const STATUS_WORDS = englishWords("status", COMPONENT_STATUSES);

/** Shape, colour and name of a component status. */
export function StatusLabel({ status }: { status: ComponentStatus }) {
  const { say } = useWords();
  return <State tone={STATUS_TONES[status]}>{say(`status.${status}`)}</State>;
}

/** Names of monitor states. */
export const MONITOR_WORDS: Record<MonitorState, string> = {
  up: "Up",
  degraded: "Degraded",
  down: "Down",
  unreachable: "Unreachable",
  maintenance: "Maintenance",
  no_data: "No data",
  pending: "Not checked yet",
  paused: "Paused",
};

/** Returns the name of the state of a monitor. One that measures times is degraded because it is slow. */
export function monitorWord(state: MonitorState, type: MonitorType): string {
  return state === "degraded" && isTimed(type) ? "Slow" : MONITOR_WORDS[state];
}

/** Shape, colour and name of a monitor state. */
export function MonitorLabel({ state, type }: { state: MonitorState; type: MonitorType }) {
  return (
    <State tone={MONITOR_TONES[state]} isPaused={state === "paused"}>
      {monitorWord(state, type)}
    </State>
  );
}

const OUTCOMES: Record<CheckOutcome, { tone: Tone; word: string }> = {
  ok: { tone: "ok", word: "OK" },
  failed: { tone: "major", word: "Failed" },
  unknown: { tone: "none", word: "Unknown" },
};

/** Shape, colour and name of the outcome of a check. */
export function CheckLabel({ outcome }: { outcome: CheckOutcome }) {
  const { tone, word } = OUTCOMES[outcome];
  return <State tone={tone}>{word}</State>;
}

interface StateProps {
  tone: Tone;
  /** True for something that a person has switched off. */
  isPaused?: boolean;
  children: ComponentChildren;
}

/** State in words, after the shape and in the colour of its tone. */
export function State({ tone, isPaused, children }: StateProps) {
  return (
    <span class={`state t-${tone}`}>
      <Shape tone={tone} {...(isPaused ? { isPaused } : {})} />
      {children}
    </span>
  );
}

/** Outlines on a grid of 16 units. */
const OUTLINES: Record<Tone | "paused", string> = {
  ok: "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2Z",
  maint:
    "M4 2.75h8A1.25 1.25 0 0 1 13.25 4v8A1.25 1.25 0 0 1 12 13.25H4A1.25 1.25 0 0 1 2.75 12V4A1.25 1.25 0 0 1 4 2.75Z",
  degraded: "M8 1.75 14.25 8 8 14.25 1.75 8Z",
  partial: "M8 2.25 14.25 13.25H1.75Z",
  major:
    "M4.5 2.25 8 5.75l3.5-3.5 2.25 2.25L10.25 8l3.5 3.5-2.25 2.25L8 10.25l-3.5 3.5L2.25 11.5 5.75 8l-3.5-3.5Z",
  none: "M8 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11Z",
  paused: "M4.5 3.5v9M11.5 3.5v9",
};

/** Shape of a tone. Hidden from screen readers, since a text always follows. */
export function Shape({ tone, isPaused }: { tone: Tone; isPaused?: boolean }) {
  return (
    <svg
      class={`shape t-${tone}${tone === "none" ? " hollow" : ""}`}
      viewBox="0 0 16 16"
      aria-hidden="true"
    >
      <path d={OUTLINES[isPaused ? "paused" : tone]} />
    </svg>
  );
}

interface ChipProps {
  tone?: Tone;
  /** True if the text is an identifier, set in the code font. */
  isCode?: boolean;
  children: ComponentChildren;
}

/** Short property in a rounded box, such as a scope or a role. */
export function Chip({ tone, isCode, children }: ChipProps) {
  const classes = ["chip", tone ? `t-${tone}` : "", isCode ? "mono" : ""];
  return <span class={classes.filter(Boolean).join(" ")}>{children}</span>;
}

interface WithChipProps {
  chip: ComponentChildren;
  children: ComponentChildren;
}

/** Name with a chip after it, or below if the line is too short. */
export function WithChip({ chip, children }: WithChipProps) {
  return (
    <span class="with-chip">
      <span>{children}</span>
      {chip}
    </span>
  );
}

/** Row of `Chip`s. */
export function Chips({ children }: { children: ComponentChildren }) {
  return <span class="chips">{children}</span>;
}

interface NoticeProps {
  tone: Tone;
  title?: string;
  children?: ComponentChildren;
}

const TONE_ICONS: Record<Tone, IconName> = {
  none: "info",
  ok: "check",
  maint: "info",
  degraded: "triangle-alert",
  partial: "triangle-alert",
  major: "triangle-alert",
};

/** Message above the content of a screen. */
export function Notice({ tone, title, children }: NoticeProps) {
  return (
    <div class={`notice t-${tone}`}>
      <Icon name={TONE_ICONS[tone]} />
      <div class="notice-text">
        {title ? <p class="strong">{title}</p> : null}
        {children ? <div>{children}</div> : null}
      </div>
    </div>
  );
}

interface FlashProps {
  message: { tone: Tone; text: string; link?: { href: string; label: string } | undefined };
}

/** Confirmation of the last action, shown once. */
export function Flash({ message }: FlashProps) {
  const { link } = message;
  return (
    <div class={`notice flash t-${message.tone}`} role="status">
      <Icon name={TONE_ICONS[message.tone]} />
      <p class="notice-text">
        {message.text}
        {link ? (
          <>
            {" "}
            <a href={safeHref(link.href)}>{link.label}</a>
          </>
        ) : null}
      </p>
    </div>
  );
}

/** Error that concerns a whole form. Takes the focus when the page loads. */
export function FormNotice({ children }: { children: ComponentChildren }) {
  return (
    <div class="notice t-major" role="alert" tabIndex={-1} autofocus>
      <Icon name="triangle-alert" />
      <p class="notice-text">{children}</p>
    </div>
  );
}

interface ErrorSummaryProps {
  /** Invalid fields. `detail` is a sentence, or the continuation of the label (`is required`). */
  errors: readonly { name: string; label: string; detail: string }[];
  /** False to leave the focus where it is when the page loads. Default: true. */
  autofocus?: boolean;
}

/** Errors of a form, listed above its fields with links to these. Renders nothing without errors. */
export function ErrorSummary({ errors, autofocus = true }: ErrorSummaryProps) {
  if (errors.length === 0) return null;
  return (
    <div class="notice t-major" role="alert" tabIndex={-1} autofocus={autofocus}>
      <Icon name="triangle-alert" />
      <div class="notice-text">
        <p class="strong">Correct {errors.length === 1 ? "this field" : "these fields"}</p>
        <ul class="plain-list">
          {errors.map(({ name, label, detail }) => (
            <li key={name}>
              <a href={`#${fieldId(name)}`}>{label}</a>
              {errorSuffix(detail)}
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

/** Least width of a bar, in percent, so that a short step is visible. */
const WIDTH_MIN = 0.5;

interface StepBarProps {
  tone: Tone;
  /** Start and duration of the step within the whole, in percent. */
  start: number;
  share: number;
}

/** Bar of a step in the course of all steps. The screen must also show its duration. */
export function StepBar({ tone, start, share }: StepBarProps) {
  const width = Math.max(WIDTH_MIN, share);
  return (
    <svg
      class={`step-bar t-${tone}`}
      viewBox="0 0 100 6"
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <rect class="step-course" width="100" height="6" />
      <rect x={Math.min(start, 100 - width)} width={width} height="6" />
    </svg>
  );
}

interface CodeBlockProps {
  text: string;
  /** Text of the copy button; "Copy" by default. */
  copyLabel?: string;
  /** True if the text is a secret, which is removed when the reader leaves the page. */
  isSecret?: boolean;
}

/** Text to copy, with a copy button that a script shows. */
export function CodeBlock({ text, copyLabel, isSecret }: CodeBlockProps) {
  return <Code text={text} copyLabel={copyLabel} secret={isSecret ? "text" : undefined} />;
}

/** Secret that is shown once. Copying it is the main action of its screen. `TestKey` sends it. */
export function Secret({ text, copyLabel }: Omit<CodeBlockProps, "isSecret">) {
  return <Code text={text} copyLabel={copyLabel} secret="value" />;
}

interface CodeProps {
  text: string;
  copyLabel: string | undefined;
  secret: "value" | "text" | undefined;
}

function Code({ text, copyLabel = "Copy", secret }: CodeProps) {
  return (
    <div class={secret === "value" ? "code is-secret" : "code"} data-code>
      <code data-secret={secret}>{text}</code>
      <button
        class={secret === "value" ? "button primary" : "button quiet"}
        type="button"
        data-copy
        data-scripted
        hidden
      >
        <Icon name="copy" />
        <span data-copy-label>{copyLabel}</span>
      </button>
      <span class="visually-hidden" role="status" />
    </div>
  );
}

/** Button that sends the `Secret` of the page as a key and shows the result. Hidden without a script. */
export function TestKey() {
  return (
    <div class="test-key" data-scripted hidden>
      <button class="button quiet" type="button" data-test-key>
        <Icon name="play" />
        Test key
      </button>
      <span class="muted" role="status" />
    </div>
  );
}

interface TimelineItem {
  key: string;
  title: string;
  /** ISO 8601 in UTC. */
  at: string;
  /** Tone of the shape. */
  tone: Tone;
  /** Author and links, after the time. */
  by?: ComponentChildren;
  body?: ComponentChildren;
}

/** Vertical list of events in the given order. `now` is in unix ms. */
export function Timeline({ items, now }: { items: readonly TimelineItem[]; now: number }) {
  return (
    <ol class="timeline">
      {items.map(({ key, title, at, tone, by, body }) => (
        <li key={key}>
          <span class="timeline-dot">
            <Shape tone={tone} />
          </span>
          <p class="timeline-head">
            <span class="strong">{title}</span> <EventTime at={at} now={now} />{" "}
            {by ? <span class="timeline-by">{by}</span> : null}
          </p>
          {body ? <div class="timeline-body">{body}</div> : null}
        </li>
      ))}
    </ol>
  );
}

interface PhasesProps {
  tone: Tone;
  items: readonly {
    label: string;
    /** Time at which it began, ISO 8601 in UTC. */
    at: string | null;
  }[];
  /** Index of the current phase. Those after it are shown without their times. */
  current: number;
  /** Unix ms. */
  now: number;
}

/** Bar of the phases of an event, with the current one marked. */
export function Phases({ tone, items, current, now }: PhasesProps) {
  return (
    <ol class={`phases t-${tone}`} aria-label="Status">
      {items.map(({ label, at }, index) => (
        <li
          key={label}
          class={index < current ? "is-done" : index === current ? "is-now" : undefined}
          aria-current={index === current ? "step" : undefined}
        >
          {label} {at === null || index > current ? null : <ClockTime at={at} now={now} />}
        </li>
      ))}
    </ol>
  );
}
