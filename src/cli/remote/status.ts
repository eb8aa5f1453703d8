/* `status` and `watch`: a status page, or the headlines of all pages, as the API shows them to a key. */
import {
  IMPACT_TONES,
  INDICATOR_TONES,
  INDICATORS,
  type Indicator,
  phaseTone,
  STATUS_TONES,
} from "../../base/status";
import { SECOND_MS, toIso } from "../../base/time";
import type { Incident } from "../../features/incidents/wire";
import type { Maintenance } from "../../features/maintenance/wire";
import type { StatusDocument } from "../../features/status/wire";
import { Failure, type Flag, type Invocation, JSON_FLAG } from "../command";
import { untilSignal } from "../process";
import { type Client, connect, EXIT, MACHINE, remoteCommand } from "./client";
import { type Cell, createPrinter, type Printer } from "../print";

type Headline = StatusDocument["status"];

/** Indicators that can make `status` fail. */
const FAIL_ON = ["minor", "major", "critical"] as const satisfies readonly Indicator[];

const FAIL_ON_FLAG: Flag = {
  name: "fail-on",
  placeholder: "LEVEL",
  choices: FAIL_ON,
  help: `Exit with ${EXIT.failOn} if a headline is that bad, or worse: ${FAIL_ON.join(", ")}.`,
};

export const statusCommand = remoteCommand({
  name: "status",
  summary: "Show a status page, or the headlines of all pages.",
  optionalPositionals: ["PAGE"],
  flags: [FAIL_ON_FLAG, JSON_FLAG],
  async run(invocation) {
    const printer = createPrinter(invocation);
    const { shown } = await openReader(connect(invocation), invocation).read();
    if (invocation.isSet(JSON_FLAG.name)) printer.json(shown);
    else print(printer, shown);
    const limit = invocation.value(FAIL_ON_FLAG.name);
    const isBad = headlinesIn(shown).some(
      ({ indicator }) => INDICATORS.indexOf(indicator) >= INDICATORS.indexOf(limit as Indicator),
    );
    return limit !== undefined && isBad ? EXIT.failOn : 0;
  },
});

/** Time between two reads of `watch`, in ms. A read costs one request of the key's limit. */
const WATCH_MS = 3 * SECOND_MS;

export const watchCommand = remoteCommand({
  name: "watch",
  summary: "Show a status page, or all headlines, and each change until Ctrl-C.",
  optionalPositionals: ["PAGE"],
  flags: [{ ...JSON_FLAG, help: "Print JSON, a line for each change." }],
  async run(invocation) {
    const client = connect(invocation);
    const reader = openReader(client, invocation);
    const first = await reader.read();
    // The next read is another try.
    client.stopRetrying();
    const stopped = untilSignal().first;
    await Promise.race([watch(invocation, reader, first, stopped), stopped]);
    return 0;
  },
});

/** Prints a document and then its changes, until the reader of the output is gone. */
async function watch(
  invocation: Invocation,
  reader: Reader,
  first: Read,
  stopped: Promise<void>,
): Promise<void> {
  const { output } = invocation;
  const printer = createPrinter(invocation);
  const isJson = invocation.isSet(JSON_FLAG.name);
  let { shown, etag } = first;
  let isLost = false;

  function printAll(): void {
    if (isJson) return printer.json(shown, true);
    if (printer.isTerminal) printer.clear();
    print(printer, shown);
    if (printer.isTerminal) printer.line(`As of ${minuteOf(MACHINE.now())}. Ctrl-C ends.`);
  }

  printAll();
  while (!output.isClosed) {
    await Promise.race([MACHINE.sleep(WATCH_MS), stopped]);
    try {
      const next = await reader.readChanged(etag);
      if (isLost) printer.note("The server answers again.");
      isLost = false;
      if (!next) continue;
      const changes = changesBetween(shown, next.shown);
      ({ shown, etag } = next);
      if (changes.length === 0) continue;
      if (isJson || printer.isTerminal) printAll();
      else for (const change of changes) printer.line(`${toIso(MACHINE.now())} ${change}`);
    } catch (error) {
      if (!(error instanceof Failure) || error.exitCode !== EXIT.noAnswer) throw error;
      if (!isLost) printer.note(`${error.message} Still trying.`);
      isLost = true;
    }
  }
}

/** A page with its headline, of `GET /api/v1/status`. */
type PageStatus = Pick<StatusDocument, "page" | "status">;

interface List<T> {
  data: T[];
  next_cursor: string | null;
}

/** A document of the API: a page, or the headlines of all. */
type Shown = StatusDocument | List<PageStatus>;

interface Read {
  shown: Shown;
  /** Entity tag of the document; undefined for a list of several parts, whose tags say nothing about the others. */
  etag: string | undefined;
}

interface Reader {
  read(): Promise<Read>;
  /** Returns undefined if the document still has the given entity tag. */
  readChanged(etag: string | undefined): Promise<Read | undefined>;
}

/** Reads the page that the command names. Without a name: the list of all, or for people the only page that there is. */
function openReader(client: Client, { positionals, isSet }: Invocation): Reader {
  // Slugs are in lower case.
  let slug = positionals[0]?.toLowerCase();

  async function readChanged(etag?: string): Promise<Read | undefined> {
    if (slug !== undefined) {
      const path = `/api/v1/status/${encodeURIComponent(slug)}`;
      const reply = await client.read<StatusDocument>(path, etag);
      return reply && { shown: reply.body, etag: reply.etag };
    }
    const list = await readList(client, etag);
    const [only, ...others] = list?.shown.data ?? [];
    if (isSet(JSON_FLAG.name) || only === undefined || others.length > 0) return list;
    slug = only.page.slug;
    return readChanged();
  }

  return {
    readChanged,
    async read() {
      const read = await readChanged();
      if (!read) throw new Failure(`${client.server} sent no content.`, EXIT.noAnswer);
      return read;
    },
  };
}

async function readList(
  client: Client,
  etag: string | undefined,
): Promise<(Read & { shown: List<PageStatus> }) | undefined> {
  const path = "/api/v1/status?limit=100";
  const first = await client.read<List<PageStatus>>(path, etag);
  if (!first) return undefined;
  const data = [...first.body.data];
  let { next_cursor: cursor } = first.body;
  const isWhole = cursor === null;
  while (cursor !== null) {
    const next = `${path}&cursor=${encodeURIComponent(cursor)}`;
    const part: List<PageStatus> = await client.get(next);
    data.push(...part.data);
    cursor = part.next_cursor;
  }
  return { shown: { data, next_cursor: null }, etag: isWhole ? first.etag : undefined };
}

function isList(shown: Shown): shown is List<PageStatus> {
  return "data" in shown;
}

function headlinesIn(shown: Shown): Headline[] {
  return isList(shown) ? shown.data.map(({ status }) => status) : [shown.status];
}

function print(printer: Printer, shown: Shown): void {
  if (isList(shown)) printList(printer, shown.data);
  else printPage(printer, shown);
}

function printList(printer: Printer, pages: readonly PageStatus[]): void {
  if (pages.length === 0) printer.note("There is no status page.");
  printer.rows(
    pages.map(({ page, status }) => [
      page.slug,
      { text: status.indicator, tone: INDICATOR_TONES[status.indicator] },
      status.description,
      page.name,
    ]),
  );
}

function printPage(printer: Printer, document: StatusDocument): void {
  const { page, status, groups, components, incidents, maintenance } = document;
  const headline = { text: status.description, tone: INDICATOR_TONES[status.indicator] };
  printer.line(`${page.name}: `, headline, `  ${page.url}`);
  const groupNames = new Map(groups.map(({ id, name }) => [id, name]));
  printer.rows(
    components.map((component) => {
      const group = groupNames.get(component.group_id ?? "");
      return [
        { text: component.status, tone: STATUS_TONES[component.status] },
        `${page.slug}:${component.ref}`,
        group === undefined ? component.name : `${group} / ${component.name}`,
      ];
    }),
    "  ",
  );
  for (const incident of incidents) {
    const state = { text: incident.status, tone: phaseTone(incident) };
    const impact = { text: incident.impact, tone: IMPACT_TONES[incident.impact] };
    const since = `, since ${minuteOf(Date.parse(incident.started_at))}`;
    printEntry(printer, "Incident", incident, state, ", impact ", impact, since);
  }
  for (const planned of maintenance) {
    const { status, scheduled_for: from, scheduled_until: until } = planned;
    const [start, end] = [from, until].map((at) => minuteOf(Date.parse(at)));
    const state = { text: status, tone: phaseTone({ status }) };
    printEntry(printer, "Maintenance", planned, state, `, ${start} to ${end}`);
  }
}

/** Prints an incident or a maintenance, with its latest update. */
function printEntry(
  printer: Printer,
  kind: string,
  { id, name, updates }: Incident | Maintenance,
  ...state: Cell[]
): void {
  printer.line(`${kind} ${id}: ${name}`);
  printer.line("    ", ...state);
  if (updates[0]) printer.text(updates[0].body);
}

/** Returns a time (unix ms) to the minute: `2026-01-10 02:00 UTC`. */
function minuteOf(ms: number): string {
  return `${toIso(ms).slice(0, 16).replace("T", " ")} UTC`;
}

/** Returns a line for each change between two documents. The pages of a list have only a headline. */
function changesBetween(before: Shown, after: Shown): string[] {
  if (isList(before) || isList(after)) {
    const pagesOf = (shown: Shown) => (isList(shown) ? shown.data : [shown]);
    return differences(pagesOf(before), pagesOf(after), headlineFact);
  }
  const { slug } = after.page;
  return [
    ...differences([before], [after], headlineFact),
    ...differences(before.components, after.components, ({ id, ref, status }) => {
      return { id, fact: status, line: `${slug}:${ref} ${status}`, gone: `${slug}:${ref} deleted` };
    }),
    ...differences(before.incidents, after.incidents, (incident) => {
      return phaseFact(`incident ${incident.id}`, incident, "resolved");
    }),
    ...differences(before.maintenance, after.maintenance, (maintenance) => {
      return phaseFact(`maintenance ${maintenance.id}`, maintenance, "over");
    }),
  ];
}

/** State of an object in a document. */
interface Fact {
  id: string;
  /** Differs after a change. */
  fact: string;
  /** Line about a new or a changed object, and about one that the document no longer has. */
  line: string;
  gone: string;
}

function headlineFact({ page, status }: PageStatus): Fact {
  const line = `${page.slug} ${status.indicator}: ${status.description}`;
  return { id: page.id, fact: line, line, gone: `${page.slug} deleted` };
}

function phaseFact(title: string, object: Incident | Maintenance, end: string): Fact {
  const { id, name, status, updates } = object;
  const until = "scheduled_until" in object ? object.scheduled_until : "";
  return {
    id,
    fact: [status, name, until, updates[0]?.id].join("\n"),
    line: `${title} ${status}: ${name}`,
    gone: `${title} ${end}: ${name}`,
  };
}

function differences<T>(
  before: readonly T[],
  after: readonly T[],
  factOf: (object: T) => Fact,
): string[] {
  const earlier = new Map(before.map((object) => [factOf(object).id, factOf(object)]));
  const lines: string[] = [];
  for (const object of after) {
    const { id, fact, line } = factOf(object);
    if (earlier.get(id)?.fact !== fact) lines.push(line);
    earlier.delete(id);
  }
  return [...lines, ...Array.from(earlier.values(), ({ gone }) => gone)];
}
