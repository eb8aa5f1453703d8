/* `incident list`, `open`, `update` and `resolve`: incidents by the API, whose fields the options have. */
import {
  COMPONENT_STATUSES,
  IMPACT_TONES,
  IMPACTS,
  INCIDENT_STATUSES,
  phaseTone,
} from "../../base/status";
import type { Incident, IncidentUpdate } from "../../features/incidents/wire";
import type { WrittenMail } from "../../features/timeline/updates";
import {
  type ExitCode,
  Failure,
  type Flag,
  type Invocation,
  JSON_FLAG,
  UsageError,
} from "../command";
import { decodeText } from "../process";
import { type Client, connect, EXIT, printAnswer, remoteCommand } from "./client";
import type { Printer } from "../print";

const PATH = "/api/v1/incidents";

/** Update with the mail about it, and an incident with such an update: answers to requests that write. */
type WrittenUpdate = IncidentUpdate & { mail?: WrittenMail };
type WrittenIncident = Omit<Incident, "updates"> & { updates: WrittenUpdate[] };

const STATUS_FLAG: Flag = {
  name: "status",
  placeholder: "S",
  choices: INCIDENT_STATUSES,
  help: `Status: ${INCIDENT_STATUSES.join(", ")}.`,
};

const COMPONENT_FLAG: Flag = {
  name: "component",
  placeholder: "PAGE:REF=STATUS",
  isRepeatable: true,
  help: `Component, by its page and ref or by its id, and its status; can be repeated: ${COMPONENT_STATUSES.join(", ")}.`,
};

const NO_NOTIFY_FLAG: Flag = {
  name: "no-notify",
  help: "Send no notifications. The page shows it either way.",
};

/** Flags of all commands that write an update. */
const UPDATE_FLAGS: readonly Flag[] = [COMPONENT_FLAG, NO_NOTIFY_FLAG];

/** Filters of the list that the API has under the same names. */
const FILTERS: readonly Flag[] = [
  { name: "page", placeholder: "P", help: "Page, by its slug or id; default: all." },
  {
    name: "component",
    placeholder: "PAGE:REF",
    help: "Component that an incident named, by its page and ref or by its id.",
  },
  STATUS_FLAG,
  {
    name: "since",
    placeholder: "TIME",
    help: "Earliest start, such as 2026-01-31T00:00:00Z.",
  },
  {
    name: "until",
    placeholder: "TIME",
    help: "Time before which an incident started.",
  },
  {
    name: "limit",
    placeholder: "N",
    help: "Number of incidents, 1 to 100; default 50.",
  },
];

const ALL_FLAG: Flag = { name: "all", help: "List resolved incidents too." };

const listCommand = remoteCommand({
  name: "incident list",
  summary: "List open incidents, newest first.",
  flags: [...FILTERS, ALL_FLAG, JSON_FLAG],
  async run(invocation) {
    const query = new URLSearchParams(fieldsOf(invocation, FILTERS));
    // With a status, only incidents that have it are listed, resolved ones too.
    const isOpen = !invocation.isSet(ALL_FLAG.name) && !query.has("status");
    if (isOpen) query.set("open", "true");
    const list = await connect(invocation).get<IncidentList>(`${PATH}?${query}`);
    return printAnswer(invocation, list, (printer, { data, next_cursor: cursor }) => {
      if (data.length > 0) printList(printer, data);
      else printer.note(isOpen ? "There is no open incident." : "There is no such incident.");
      if (cursor === null) return;
      printer.note(`There are more. --until ${data.at(-1)?.started_at} lists earlier ones.`);
    });
  },
});

interface IncidentList {
  data: Incident[];
  /** Null if there are no further ones. */
  next_cursor: string | null;
}

function printList(printer: Printer, incidents: readonly Incident[]): void {
  printer.rows([
    ["ID", "PAGE", "STATUS", "IMPACT", "STARTED", "NAME"],
    ...incidents.map((incident) => [
      incident.id,
      incident.page,
      { text: incident.draft ? "draft" : incident.status, tone: phaseTone(incident) },
      { text: incident.impact, tone: IMPACT_TONES[incident.impact] },
      incident.started_at,
      incident.name,
    ]),
  ]);
}

/** Fields of a new incident that its updates do not have. */
const NEW_FIELDS: readonly Flag[] = [
  {
    name: "name",
    placeholder: "N",
    isRequired: true,
    help: "Title of the incident.",
  },
  {
    name: "page",
    placeholder: "P",
    help: "Page, by its slug or id; default: that of the components, or the only page.",
  },
  {
    name: "impact",
    placeholder: "I",
    choices: IMPACTS,
    help: `Impact: ${IMPACTS.join(", ")}; default: that of the worst component.`,
  },
  STATUS_FLAG,
  {
    name: "started-at",
    placeholder: "TIME",
    help: "Start, such as 2026-01-31T11:45:00Z; default: now.",
  },
  {
    name: "external-ref",
    placeholder: "R",
    help: "Identifier of your own. A second incident with it is a conflict.",
  },
];

const DRAFT_FLAG: Flag = { name: "draft", help: "Do not publish it yet." };

const openCommand = remoteCommand({
  name: "incident open",
  summary:
    "Open an incident and print its id. MESSAGE is its first update; - reads standard input.",
  positionals: ["MESSAGE"],
  flags: [
    ...NEW_FIELDS,
    ...UPDATE_FLAGS,
    DRAFT_FLAG,
    { ...JSON_FLAG, help: "Print the incident as JSON." },
  ],
  async run(invocation) {
    const update = await readUpdate(invocation, 0);
    const fields = fieldsOf(invocation, NEW_FIELDS);
    const client = connect(invocation);
    const incident = await client.post<WrittenIncident>(PATH, {
      ...fields,
      page: fields["page"] ?? pageOf(update.components) ?? (await findOnlyPage(client)),
      ...update,
      ...(invocation.isSet(DRAFT_FLAG.name) && { draft: true }),
    });
    return printAnswer(invocation, incident, (printer, { id, name, draft, url, updates }) => {
      printer.line(id);
      printer.note(`Opened “${name}”, ${draft ? "a draft" : url}.`);
      noteMail(printer, updates[0]);
    });
  },
});

const updateCommand = remoteCommand({
  name: "incident update",
  summary: "Add an update to an incident. MESSAGE is its text; - reads standard input.",
  positionals: ["ID", "MESSAGE"],
  flags: [STATUS_FLAG, ...UPDATE_FLAGS, { ...JSON_FLAG, help: "Print the update as JSON." }],
  run: async (invocation) => {
    const update = await readUpdate(invocation, 1);
    return addUpdate(invocation, { ...fieldsOf(invocation, [STATUS_FLAG]), ...update });
  },
});

const resolveCommand = remoteCommand({
  name: "incident resolve",
  summary: "Resolve an incident. MESSAGE is the text of its last update; - reads standard input.",
  positionals: ["ID"],
  optionalPositionals: ["MESSAGE"],
  flags: [...UPDATE_FLAGS, { ...JSON_FLAG, help: "Print the update as JSON." }],
  async run(invocation) {
    const update = await readUpdate(invocation, 1, "This incident has been resolved.");
    // A job that runs again adds its own words, but not the same sentence with the same mails.
    const [id = "", text] = invocation.positionals;
    const saysNothing = text === undefined && !update.components;
    const last = saysNothing ? await findResolution(connect(invocation), id) : undefined;
    if (!last) return addUpdate(invocation, { status: "resolved", ...update });
    return printAnswer(invocation, last, (printer) => printer.note(`${id} is already resolved.`));
  },
});

export const incidentCommands = [listCommand, openCommand, updateCommand, resolveCommand];

/** Returns the last update of a resolved incident. A key that may not read finds none. */
async function findResolution(client: Client, id: string): Promise<IncidentUpdate | undefined> {
  try {
    const { status, updates } = await client.get<Incident>(`${PATH}/${encodeURIComponent(id)}`);
    return status === "resolved" ? updates[0] : undefined;
  } catch (error) {
    if (!(error instanceof Failure) || error.exitCode !== EXIT.credential) throw error;
    return undefined;
  }
}

async function addUpdate(invocation: Invocation, body: object): Promise<ExitCode> {
  const [id = ""] = invocation.positionals;
  const path = `${PATH}/${encodeURIComponent(id)}/updates`;
  const update = await connect(invocation).post<WrittenUpdate>(path, body);
  return printAnswer(invocation, update, (printer) => {
    printer.note(`Updated ${id}: ${update.status}.`);
    noteMail(printer, update);
  });
}

/** Says that mails wait for an admin, which the caller may not expect. */
function noteMail(printer: Printer, update: WrittenUpdate | undefined): void {
  if (update?.mail?.state === "held") printer.note(`Mails are held: ${update.mail.reason}`);
}

/** Returns the fields of the given flags. The API has the names of the flags, except for the impact. */
function fieldsOf({ value }: Invocation, flags: readonly Flag[]): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const { name } of flags) {
    const given = value(name);
    const field = name === "impact" ? "impact_override" : name.replaceAll("-", "_");
    if (given !== undefined) fields[field] = given;
  }
  return fields;
}

interface Update {
  body: string;
  /** Statuses by component. */
  components?: Record<string, string>;
  notify?: false;
}

/** Reads the fields of an update. The text is a positional argument; without it `standard`. */
async function readUpdate(
  invocation: Invocation,
  position: number,
  standard?: string,
): Promise<Update> {
  const components = readComponents(invocation);
  const text = invocation.positionals[position] ?? standard ?? "";
  const body = text === "-" ? await readInput(invocation) : text;
  if (body.trim() === "") throw new UsageError(["MESSAGE is empty."]);
  return {
    body,
    ...(components && { components }),
    ...(invocation.isSet(NO_NOTIFY_FLAG.name) && { notify: false as const }),
  };
}

/** Most bytes of a text that are read. The server accepts 10,000 characters. */
const INPUT_MAX_BYTES = 64 * 1024;

async function readInput({ input }: Invocation): Promise<string> {
  const bytes = await input.bytes(INPUT_MAX_BYTES + 1);
  if (bytes.byteLength > INPUT_MAX_BYTES) throw new UsageError(["Standard input is too long."]);
  return decodeText(bytes).trimEnd();
}

function readComponents({ values }: Invocation): Record<string, string> | undefined {
  const given = values(COMPONENT_FLAG.name);
  const statuses = new Map<string, string>();
  const problems: string[] = [];
  for (const text of given) {
    const [, reference = "", status = ""] = /^(.+)=([^=]*)$/s.exec(text) ?? [];
    if (!COMPONENT_STATUSES.some((name) => name === status)) {
      problems.push(
        `--component ${text} must end with = and one of ${COMPONENT_STATUSES.join(", ")}.`,
      );
    }
    if (statuses.has(reference)) problems.push(`--component ${reference} is given more than once.`);
    statuses.set(reference, status);
  }
  if (problems.length > 0) throw new UsageError(problems);
  return given.length > 0 ? Object.fromEntries(statuses) : undefined;
}

/** Returns the page that references of the form PAGE:REF name; undefined if there is none. */
function pageOf(components: Readonly<Record<string, string>> = {}): string | undefined {
  const reference = Object.keys(components).find((key) => key.includes(":"));
  return reference?.split(":", 1)[0];
}

/** Returns the slug of the only page. Throws a UsageError if there are several, or if the key may not read. */
async function findOnlyPage(client: Client): Promise<string> {
  const path = "/api/v1/status?limit=2";
  try {
    const { data } = await client.get<{ data: { page: { slug: string } }[] }>(path);
    const [only, ...others] = data;
    if (only && others.length === 0) return only.page.slug;
  } catch (error) {
    if (!(error instanceof Failure) || error.exitCode !== EXIT.credential) throw error;
    // A wrong key fails again with the request itself; one without the scope cannot find the page.
  }
  throw new UsageError(["--page is missing."]);
}
