/*
 * Labels of containers that declare monitors: `readContainers` reads the list of a Docker host, `declarationsIn` finds what
 * the containers declare, and `readDeclaration` makes a monitor of it, as a configuration file would declare it.
 */
import type { TObject, TSchema } from "@sinclair/typebox";
import { isSecret, secretsIn } from "../../base/secrets";
import { shapeOf } from "../../base/schema";
import { isObject, oneLine, parseJson, toRef } from "../../base/text";
import { schemaErrors } from "../../base/validation";
import { validateDeclaredMonitor } from "../monitors/declared";
import { FileMonitor } from "../monitors/file";
import { probeOf } from "../monitors/probes";
import { type Field, isKumaMonitor, kumaGroupsOf, readKumaSettings } from "./kuma";

/** Label of a container's own monitor, and the beginning of all others. */
const LABEL = "allclear.monitor";
const KUMA = "kuma";

const COMPOSE_PROJECT = "com.docker.compose.project";
const COMPOSE_SERVICE = "com.docker.compose.service";
const SWARM_SERVICE = "com.docker.swarm.service.name";

/** Types that labels can declare. The others reach into databases, other products or this machine. */
const LABEL_TYPES = ["http", "tcp", "tls", "ping", "push"] as const;
type LabelType = (typeof LABEL_TYPES)[number];

const VALUE_MAX = 4_000;

/** A container with labels that may declare monitors. */
export interface Container {
  /** Name of the Docker host. */
  host: string;
  name: string;
  /** Name that stays when the container is made again, and that all containers of a service of Compose or Swarm share. */
  identity: string;
  labels: ReadonlyMap<string, string>;
  /** False while it is stopped, or was never started. */
  isRunning: boolean;
  /** Unix seconds. */
  createdAt: number;
}

/** States of containers that were started and not stopped. */
const RUNNING: ReadonlySet<unknown> = new Set(["running", "restarting", "paused"]);

/** Maximum number of labels for monitors on one host. */
const LABELS_MAX = 5_000;

/** Containers of a Docker host. */
export interface ListedContainers {
  /** Those with labels for monitors, and without their other labels. */
  containers: Container[];
  /** Number of all. */
  total: number;
}

const UNREADABLE = "Docker's answer could not be read.";

/** Reads Docker's list of containers. Returns a sentence about a list that cannot be read. */
export function readContainers(host: string, text: string): ListedContainers | string {
  const list = parseJson(text);
  if (!Array.isArray(list)) return UNREADABLE;
  const containers: Container[] = [];
  let count = 0;
  for (const each of list as unknown[]) {
    // What is no list of containers must not look like one from which they were removed.
    if (!isObject(each) || typeof each["Id"] !== "string") return UNREADABLE;
    const { Id, Names, Labels: all, State, Created } = each;
    if (!isObject(all)) continue;
    const labels = new Map<string, string>();
    for (const [label, value] of Object.entries(all)) {
      // A container sets a label of its image to nothing to be rid of it.
      const isSet = typeof value === "string" && value !== "";
      if (isSet && (isOurs(label) || isKuma(label))) labels.set(label, value);
    }
    if (labels.size === 0) continue;
    count += labels.size;
    if (count > LABELS_MAX) {
      return `Its containers have more than ${LABELS_MAX.toLocaleString("en")} labels for monitors.`;
    }
    const name = oneLine(nameIn(Names) ?? Id).replace(/^\//, "");
    containers.push({
      host,
      name,
      identity: serviceIn(all) ?? name,
      labels,
      isRunning: RUNNING.has(State),
      createdAt: typeof Created === "number" ? Created : 0,
    });
  }
  return { containers, total: list.length };
}

/** Returns the own name of a container. Those with a further slash are the names of others for it. */
function nameIn(names: unknown): string | undefined {
  if (!Array.isArray(names)) return undefined;
  const texts = names.filter((each) => typeof each === "string");
  return texts.find((each) => !each.includes("/", 1)) ?? texts[0];
}

/** Returns the name of the service to which a container belongs. */
function serviceIn(labels: Record<string, unknown>): string | undefined {
  const { [COMPOSE_PROJECT]: project, [COMPOSE_SERVICE]: service } = labels;
  if (typeof project === "string" && typeof service === "string") return `${project}-${service}`;
  const swarm = labels[SWARM_SERVICE];
  return typeof swarm === "string" ? swarm : undefined;
}

function isOurs(label: string): boolean {
  return label === LABEL || label.startsWith(`${LABEL}.`);
}

function isKuma(label: string): boolean {
  return label.startsWith(`${KUMA}.`);
}

/** Reason for which labels of a container are not applied. */
export interface LabelProblem {
  host: string;
  container: string;
  /** One sentence without values of secrets. */
  detail: string;
}

/** Labels that declare one monitor. */
export interface Declaration {
  container: Container;
  ref: string;
  /** Name of the monitor, unless a label sets one. */
  name: string;
  /** Beginning of its labels. */
  prefix: string;
  /** Type, if the labels have it in their names. */
  kumaType: string | undefined;
  /** Labels by the field that they set. */
  fields: ReadonlyMap<string, Label>;
}

interface Label {
  label: string;
  value: string;
}

/** Declarations by their refs, and the labels that declare nothing. */
export interface Declarations {
  byRef: ReadonlyMap<string, Declaration>;
  problems: LabelProblem[];
}

/**
 * Finds what containers declare. Where several declare a monitor, the newest one that is running counts: containers of
 * one service have the same labels, and while a container is replaced, there are two.
 */
export function declarationsIn(containers: readonly Container[]): Declarations {
  const problems: LabelProblem[] = [];
  const byRef = new Map<string, Declaration>();
  /** Fields as a text, which is made once for each: thousands of declarations may have the ref of a long one. */
  const texts = new Map<Declaration, string>();
  const textOf = (declaration: Declaration) => {
    const { kumaType, fields } = declaration;
    const text =
      texts.get(declaration) ??
      JSON.stringify([kumaType, [...fields].map(([field, { value }]) => [field, value]).sort()]);
    texts.set(declaration, text);
    return text;
  };
  const inOrder = containers.toSorted(
    (a, b) =>
      Number(b.isRunning) - Number(a.isRunning) ||
      b.createdAt - a.createdAt ||
      `${a.host} ${a.name}`.localeCompare(`${b.host} ${b.name}`, "en"),
  );
  for (const container of inOrder) {
    for (const declaration of declarationsOf(container, problems)) {
      const first = byRef.get(declaration.ref);
      if (!first) byRef.set(declaration.ref, declaration);
      else if (container.isRunning && textOf(first) !== textOf(declaration)) {
        const detail = `${declaration.prefix} is also declared by the container ${first.container.name}, with other labels. Those count.`;
        problems.push(problemOf(container, detail));
      }
    }
  }
  return { byRef, problems };
}

/** Returns a problem with a container in one sentence. */
export function problemOf({ host, name: container }: Container, detail: string): LabelProblem {
  return { host, container, detail: oneLine(detail) };
}

/** Groups the labels of a container by the monitors that they declare. */
function declarationsOf(container: Container, problems: LabelProblem[]): Declaration[] {
  const groups = new Map<string, Omit<Declaration, "fields"> & { fields: Map<string, Label> }>();
  const add = (
    { name, prefix, kumaType }: Pick<Declaration, "name" | "prefix" | "kumaType">,
    field: string,
    label: Label,
  ) => {
    const ref = toRef(name);
    if (ref === "") {
      const detail = `${label.label} must have a letter or a digit in the name of the monitor.`;
      problems.push(problemOf(container, detail));
      return;
    }
    const group = groups.get(prefix) ?? {
      container,
      ref,
      name,
      prefix,
      kumaType,
      fields: new Map<string, Label>(),
    };
    groups.set(prefix, group);
    group.fields.set(field, label);
  };
  const own = { name: container.identity, prefix: LABEL, kumaType: undefined };
  for (const [label, value] of [...container.labels].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const parts = label.split(".");
    if (label === LABEL) add(own, "url", { label, value });
    else if (isOurs(label)) {
      const [name = "", field = ""] = parts.slice(2);
      if (parts.length === 3) add(own, name, { label, value });
      else if (parts.length === 4) {
        add({ name, prefix: `${LABEL}.${name}`, kumaType: undefined }, field, { label, value });
      } else {
        const detail = `${label} is not of the form ${LABEL}.NAME.FIELD.`;
        problems.push(problemOf(container, detail));
      }
    } else if (isKuma(label)) {
      const [, id = "", kumaType = "", field = ""] = parts;
      if (parts.length !== 4 || !isKumaMonitor(kumaType)) continue;
      const prefix = `${KUMA}.${id}.${kumaType}`;
      add({ name: filled(id, container), prefix, kumaType }, field, { label, value });
    }
  }
  return [...groups.values()];
}

/** Fills in the template of AutoKuma that most labels with templates use: the name of the container. */
function filled(text: string, { name }: Container): string {
  return text.replace(/\{\{\s*container_name\s*\}\}/g, () => name);
}

/** Short names of fields. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ["interval", "interval_seconds"],
  ["component", "components"],
]);

/** Fields of a file that are not those of a label: the name of the label is the ref. */
const NOT_BY_LABEL: ReadonlySet<string> = new Set(["ref", "previous_refs", "config"]);

/** A monitor of labels, or the reasons for which there is none. */
type ReadDeclaration = { monitor: FileMonitor } | { problems: LabelProblem[] };

/**
 * Makes a monitor of a declaration. `groups` are the names of AutoKuma's groups by their ids: see `groupsIn`. Every problem
 * names its label, and no value that may be secret.
 */
export function readDeclaration(
  declaration: Declaration,
  groups: ReadonlyMap<string, string>,
): ReadDeclaration {
  const { container, ref, name, prefix } = declaration;
  const { found, details } = fieldsOf(declaration, groups);
  const rejected = () => ({ problems: details.map((detail) => problemOf(container, detail)) });
  const labelOf = (field: string) => found.get(field)?.label ?? `${prefix}.${field}`;
  const type = typeOf(found);
  if (!isLabelType(type)) {
    details.push(`${labelOf("type")} must be one of ${LABEL_TYPES.join(", ")}.`);
    return rejected();
  }
  const config: Record<string, unknown> = {};
  const monitor: Record<string, unknown> = { name, ref, type };
  const shape = shapeOf(FileMonitor, monitor) as TObject;
  const own = probeOf(type).config;
  for (const { field, label, value } of found.values()) {
    if (field === "type") continue;
    const ofConfig = propertyOf(own, field);
    const ofMonitor = NOT_BY_LABEL.has(field) ? undefined : propertyOf(shape, field);
    if (ofConfig && isSecret(ofConfig)) details.push(`${label} ${IS_SECRET}`);
    else if (ofConfig) config[field] = converted(ofConfig, value);
    else if (ofMonitor) monitor[field] = converted(ofMonitor, value);
    else {
      const isName = label === `${LABEL}.${field}`;
      const hint = isName ? ` A monitor with this name is declared by ${label}.url.` : "";
      details.push(`${label} is not a field of monitors of the type ${type}.${hint}`);
    }
  }
  for (const { path } of secretsIn(own, config)) {
    details.push(`${labelOf(path[0] ?? "")} ${IS_SECRET}`);
  }
  if (Object.keys(config).length > 0) monitor["config"] = config;
  if (details.length > 0) return rejected();
  const declared = monitor as unknown as FileMonitor;
  const errors = schemaErrors(FileMonitor, monitor);
  for (const { pointer, detail } of errors.length > 0
    ? errors
    : validateDeclaredMonitor(declared)) {
    const path = pointer.split("/").slice(1);
    const [field = "config"] = path[0] === "config" ? path.slice(1) : path;
    details.push(`${labelOf(field)} ${detail}.`);
  }
  return details.length > 0 ? rejected() : { monitor: declared };
}

/** A field with the label that sets it. */
type LabelledField = Field & { label: string };

/** Returns the fields of a declaration by their names, and the problems of its labels. */
function fieldsOf(
  { container, kumaType, fields }: Declaration,
  groups: ReadonlyMap<string, string>,
): { found: Map<string, LabelledField>; details: string[] } {
  const details: string[] = [];
  const settings = new Map<string, Label>();
  for (const [field, { label, value }] of fields) {
    if (value.length <= VALUE_MAX) {
      settings.set(field, { label, value: kumaType ? filled(value, container) : value });
    } else details.push(`${label} has more than ${VALUE_MAX.toLocaleString("en")} characters.`);
  }
  if (kumaType !== undefined) {
    const read = readKumaSettings(kumaType, settings, groups);
    details.push(...read.problems);
    return { found: new Map(read.fields.map((each) => [each.field, each])), details };
  }
  const found = [...settings].map(([name, label]): [string, LabelledField] => {
    const field = ALIASES.get(name) ?? name;
    return [field, { field, ...label }];
  });
  return { found: new Map(found), details };
}

const IS_SECRET =
  "is a secret, and everybody who may use Docker can read labels. Set it in the dashboard, where it stays.";

function isLabelType(type: string): type is LabelType {
  return (LABEL_TYPES as readonly string[]).includes(type);
}

/** Address of a monitor other than a website: its type, its host, and a port. */
const ADDRESS = /^(tcp|tls|ping):\/\/(\[[^\]]+\]|[^:/]+)(?::(\d{1,5}))?\/?$/;

/**
 * Returns the type of a monitor: that of its label, or of its URL, which then becomes host and port in `found`. A monitor
 * with neither is a website.
 */
function typeOf(found: Map<string, LabelledField>): string {
  const named = found.get("type")?.value;
  const url = found.get("url");
  const [, scheme, host = "", port] =
    ADDRESS.exec(typeof url?.value === "string" ? url.value : "") ?? [];
  if (!url || scheme === undefined || (named !== undefined && named !== scheme)) {
    return String(named ?? "http");
  }
  found.delete("url");
  found.set("host", { ...url, field: "host", value: host.replace(/^\[|\]$/g, "") });
  if (port !== undefined) found.set("port", { ...url, field: "port", value: port });
  return scheme;
}

function propertyOf({ properties }: TObject, field: string): TSchema | undefined {
  return Object.hasOwn(properties, field) ? properties[field] : undefined;
}

/** Returns the value of a label as its schema expects it, or unchanged, so that the schema tells the error. */
function converted(schema: TSchema, value: unknown): unknown {
  if (typeof value !== "string") return value;
  const variants: TSchema[] = (schema["anyOf"] as TSchema[] | undefined) ?? [schema];
  const types = variants.map(({ type }) => type as unknown);
  const text = value.trim();
  if (types.includes("integer") || types.includes("number")) {
    return /^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : value;
  }
  if (types.includes("boolean")) return text === "true" ? true : text === "false" ? false : value;
  if (types.includes("array")) {
    if (text.startsWith("[")) return parseJson(text) ?? value;
    return text.split(",").flatMap((part) => (part.trim() === "" ? [] : [part.trim()]));
  }
  if (types.includes("object")) return parseJson(text) ?? value;
  return value;
}

/** Returns the names of AutoKuma's groups by their ids, from the labels of all containers. */
export function groupsIn(containers: readonly Container[]): ReadonlyMap<string, string> {
  return kumaGroupsOf(
    containers.map((container) =>
      [...container.labels].flatMap(([label, value]) =>
        isKuma(label) ? [[label, filled(value, container)] as const] : [],
      ),
    ),
  );
}
