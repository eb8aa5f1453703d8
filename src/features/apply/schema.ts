import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { WEBHOOK_FORMATS } from "../../base/webhook";
import { FileComponent, FileGroup } from "../components/file";
import { FileTemplate } from "../incident-templates/file";
import { FileLocation } from "../locations/file";
import { FileSchedule } from "../maintenance/schedules/file";
import { FileMonitor, FileMonitors } from "../monitors/file";
import { FilePage } from "../pages/file";
import { FileWebhook, webhookSettingsSchema } from "../webhooks/file";
import { isUrlSecret } from "../webhooks/formats/index";

/** A configuration file, with the monitors without components. */
export const ApplyFile = Type.Object(
  {
    pages: Type.Array(FilePage),
    locations: Type.Optional(Type.Array(FileLocation)),
    monitors: FileMonitors,
    webhooks: Type.Optional(Type.Array(FileWebhook)),
    incident_templates: Type.Optional(Type.Array(FileTemplate)),
    maintenance_schedules: Type.Optional(Type.Array(FileSchedule)),
  },
  { additionalProperties: false },
);

export type ApplyFile = Static<typeof ApplyFile>;

type Json = Record<string, unknown>;

/** Objects of a file, which have definitions of their own in the schema. */
const DEFINED = {
  page: FilePage,
  group: FileGroup,
  component: FileComponent,
  location: FileLocation,
  monitor: FileMonitor,
  webhook: FileWebhook,
  incident_template: FileTemplate,
  maintenance_schedule: FileSchedule,
} as const satisfies Record<string, TSchema>;

/** Keys for notes and for parts that are merged elsewhere. `apply` ignores them. */
export const EXTENSION = /^x-/;

/** Descriptions of fields whose schema has none, by definition. Those of `every` are for all of them. */
export const DESCRIPTIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  file: {
    pages: "Status pages. The order of everything below them is the order on the page.",
    locations: "Places besides the server from which agents check monitors.",
    monitors: "Monitors that belong to no component.",
    webhooks: "Endpoints that receive events.",
    incident_templates: "Prepared texts for incidents.",
    maintenance_schedules: "Maintenance that recurs.",
  },
  page: {
    slug: "Name in the address: /status/{slug}.",
    time_zone: "IANA time zone in which the page shows times. Default: UTC.",
    locale: "Language of the page, such as en or de-CH. Default: en.",
    languages: "Languages that visitors choose in addition, such as [de, fr].",
    visibility:
      "public, or private for signed-in users, API keys and visitors by the rules of access. Default: public.",
    access:
      "Rules by which visitors see the page while it is private. Links are made in the dashboard.",
    password:
      "Password of the page, 8 to 200 characters. Absent: a stored one stays. Null: it is removed.",
    networks: "Networks in CIDR notation, or addresses, from which visitors see the page.",
    theme: "Colours: those of the visitor's system, light or dark. Default: system.",
    accent: "Colour of links and buttons: #rrggbb.",
    history_days: "Days of the charts. Default: 90.",
    join_minutes:
      "Minutes in which outages join an automatic incident; 0 for an incident for each outage. Default: 10.",
    custom_domains: "Host names on which the page is served, such as status.example.com.",
    default: "True for the page at /. Default: true for the first page.",
    compat: "Products whose clients read this page, too.",
    report: "People who see the monthly reports: off, team or public. Default: team.",
    mail: "Mail to subscribers.",
    subscriptions: "False for no subscription form on the page.",
    from_name: "Name of the sender. Default: the name of the page.",
    reply_to: "Address for replies.",
    subject: "thread for one subject per incident, or status to begin with the status.",
    look: "Texts, links and CSS of the page, and what it hides.",
    header: "Text above the content, in Markdown.",
    footer: "Text at the end of every mail, or of the page in Markdown.",
    links: "Links in the head of the page.",
    url: "Address of the link.",
    hide_uptime: "True for a page without bars and figures of uptime.",
    hide_history: "True for a page without past incidents.",
    notice: "Text above everything until notice_until, in Markdown.",
    notice_until: "End of the notice.",
    custom_css: "CSS for the content of the page, at most 20 kB.",
    previous_slugs: "Earlier slugs by which the page is found when it is renamed.",
    groups: "Groups of components.",
    components: "Components without a group.",
  },
  group: {
    collapse: "State in which visitors find the group. Default: expanded.",
    components: "Components of the group.",
  },
  component: {
    showcase: "Passed on to clients of Statuspage. Default: true.",
    only_show_if_degraded: "True to show it only while it is not operational. Default: false.",
    show_latency: "True to show the response times of its monitor. Default: false.",
    monitors: "Monitors that decide its status.",
  },
  location: {
    token: "Token of its agent, 32 to 128 characters. Absent or null: a stored one stays.",
  },
  monitor: {
    type: "Kind of check.",
    components: "Further components that it watches: page-slug/component-ref.",
    depends_on: "Refs of monitors without which this one cannot be up.",
    locations: "Refs of the locations that check it; local is the server. Default: local.",
    config: "Target and conditions of the check.",
    op: "Comparison.",
    value: "Expected value.",
    port: "Port of the server.",
    user: "User name.",
    username: "User name.",
    client_id: "Id of the client.",
    scopes: "Scopes to ask for.",
    audience: "Audience to ask for.",
  },
  webhook: { settings: "Further settings of the format." },
  incident_template: {
    title: "Name of the incident.",
    page: "Slug of the page, or null for all pages.",
    components: "Statuses by ref of the component.",
  },
  maintenance_schedule: {
    page: "Slug of the page.",
    components: "Refs of the affected components.",
  },
  every: {
    name: "Name.",
    description: "Text for readers.",
    ref: "Name by which apply finds the object again. Default: made from the name.",
    previous_refs: "Earlier refs by which the object is found when it is renamed.",
  },
};

/**
 * Returns the JSON Schema (draft 7, which editors know) of configuration files. It is made from the schemas with which
 * `apply` checks a file. Secrets can be null, or contain `${NAME}`.
 */
export function configFileSchema(): Json {
  const definitions = Object.fromEntries(
    Object.entries(DEFINED).map(([name, schema]) => [name, define(name, schema)]),
  );
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Configuration file of Allclear",
    ...define("file", ApplyFile),
    definitions: { ...definitions, webhook: { ...definitions["webhook"], allOf: byFormat() } },
  };
}

/** Returns a schema as plain JSON, with references to the definitions of other objects. */
function define(name: string, schema: TSchema): Json {
  const convert = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(convert);
    if (typeof value !== "object" || value === null) return value;
    const other = Object.entries(DEFINED).find(([, defined]) => defined === value)?.[0];
    if (other !== undefined && value !== schema) return { $ref: `#/definitions/${other}` };
    return Object.fromEntries(
      Object.entries(value).flatMap(([key, part]) => {
        // Names of the documentation of the API.
        if (key === "title") return [];
        return [[key, key === "properties" ? fields(part as Json) : convert(part)]];
      }),
    );
  };
  const fields = (properties: Json): Json =>
    Object.fromEntries(
      Object.entries(properties).map(([field, part]) => [
        field,
        described(convert(part) as Json, name, field),
      ]),
    );
  const plain = convert(schema) as Json;
  // A monitor has one shape for each type.
  return Array.isArray(plain["oneOf"])
    ? { ...plain, oneOf: plain["oneOf"].map(extensible) }
    : extensible(plain);
}

function extensible(shape: Json): Json {
  return { ...shape, patternProperties: { [EXTENSION.source]: {} } };
}

function described(schema: Json, name: string, field: string): Json {
  const variants = [schema, ...((schema["anyOf"] as Json[] | undefined) ?? [])];
  if (variants.some(({ description }) => description !== undefined)) return schema;
  const description = DESCRIPTIONS[name]?.[field] ?? DESCRIPTIONS["every"]?.[field];
  return description === undefined ? schema : { description, ...schema };
}

/** Returns the conditions of each format on its settings and its URL. */
function byFormat(): Json[] {
  return WEBHOOK_FORMATS.map((format) => ({
    // Standard is the default, so a missing format fulfils its condition.
    if: {
      properties: { format: { const: format } },
      ...(format !== "standard" && { required: ["format"] }),
    },
    // A word of JSON Schema; nothing awaits the object.
    // oxlint-disable-next-line unicorn/no-thenable
    then: {
      properties: {
        settings: JSON.parse(JSON.stringify(webhookSettingsSchema(format))) as Json,
        ...(!isUrlSecret(format) && { url: { type: "string" } }),
      },
      ...(!isUrlSecret(format) && { required: ["url"] }),
    },
  }));
}
