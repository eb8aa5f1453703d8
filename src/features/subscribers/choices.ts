/*
 * Choices of subscribers: components and groups, and kinds of events. Forms send ids, people and files write refs. All that
 * is stored names only what exists.
 */
import { SUBSCRIBER_EVENTS, type SubscriberEvent } from "../../base/mail-address";
import type { Reader } from "../../db/statements";
import type { RequestedChoices } from "../../db/tables/mail";
import {
  type ComponentRow,
  type GroupRow,
  listComponentsOfPage,
  listGroups,
} from "../components/store";
import type { MessageKey } from "../../languages/words";
import { languageTagsOf } from "../pages/rules";
import { findPageBySlug, type PageRow } from "../pages/store";
import { listChoices, type SubscriberRow } from "./store";

/** Events of a subscription for which none are named. */
const DEFAULT_EVENTS: readonly SubscriberEvent[] = ["incidents", "maintenance"];

/** Errors of a form with choices, as messages by the name of the input. */
type ChoiceErrors = Partial<Record<"scope" | "component" | "events", MessageKey>>;

/** Choices as a form sends them. */
export interface TypedChoices {
  scope: string;
  components: readonly string[];
  groups: readonly string[];
  events: readonly string[];
  /** Tag of a language; empty for that of the page. */
  language?: string;
}

/** Components and groups of a page that can be chosen. */
export interface Choosable {
  components: readonly Pick<ComponentRow, "id" | "name" | "groupId">[];
  groups: readonly Pick<GroupRow, "id" | "name">[];
}

export function readChoosable(reader: Reader, pageId: string): Choosable {
  return {
    components: listComponentsOfPage(reader, { pageId }),
    groups: listGroups(reader, { pageId }),
  };
}

/**
 * Returns the choices of a form, or its errors. `needsEvents` is true where a form without any event is an
 * error, and not one that leaves the choice to the default. A language that is not one of `languages` is left out.
 */
export function parseChoices(
  typed: TypedChoices,
  { components, groups }: Choosable,
  { needsEvents, languages }: { needsEvents: boolean; languages: readonly string[] },
): { choices: RequestedChoices } | { errors: ChoiceErrors } {
  const errors: ChoiceErrors = {};
  const { scope } = typed;
  if (scope !== "page" && scope !== "selection") {
    errors.scope = "form.wrong.scope";
  }
  const targets = scope === "selection" ? [...typed.groups, ...typed.components] : [];
  const known = new Set([...components, ...groups].map(({ id }) => id));
  if (targets.some((id) => !known.has(id))) {
    errors.component = "form.wrong.gone";
  } else if (scope === "selection" && targets.length === 0) {
    errors.component = "form.wrong.components";
  }
  const events = SUBSCRIBER_EVENTS.filter((event) => typed.events.includes(event));
  const hasUnknown = typed.events.some((event) => !(events as string[]).includes(event));
  if (hasUnknown || (needsEvents && events.length === 0)) {
    errors.events = "form.wrong.kinds";
  }
  if (Object.keys(errors).length > 0) return { errors };
  return {
    choices: {
      scope: scope as RequestedChoices["scope"],
      targets: [...new Set(targets)],
      events: events.length > 0 ? events : [...DEFAULT_EVENTS],
      ...(languages.length === 0
        ? {}
        : { language: languages.find((tag) => tag === typed.language) ?? null }),
    },
  };
}

/** Returns the choices without components and groups that no longer exist. */
export function existingChoices(
  choices: RequestedChoices,
  { components, groups }: Choosable,
): RequestedChoices {
  const known = new Set([...components, ...groups].map(({ id }) => id));
  return { ...choices, targets: choices.targets.filter((id) => known.has(id)) };
}

/** Returns the names of chosen groups and components, in the order of the page. */
export function namesOfTargets(
  targets: readonly string[],
  { components, groups }: Choosable,
): string[] {
  const chosen = new Set(targets);
  return [...groups, ...components].filter(({ id }) => chosen.has(id)).map(({ name }) => name);
}

/** Returns the current choices of a subscriber. */
export function choicesOf(
  reader: Reader,
  { id, scope, events, language }: Pick<SubscriberRow, "id" | "scope" | "events" | "language">,
): RequestedChoices {
  const targets = listChoices(reader, { subscriberId: id }).map(({ targetId }) => targetId);
  return { scope, targets, events, ...(language === null ? {} : { language }) };
}

/** Maximum length of a text that an error repeats. */
const SHOWN_MAX = 63;

/** Slugs of a file that are remembered. They are those of few pages. */
const SLUGS_MAX = 1_000;

/** Choices as people write them: refs, with or without the page's slug, and kinds of events. */
interface WrittenChoices {
  components: readonly string[];
  groups: readonly string[];
  events: readonly string[];
  /** Tag of a language; empty for that of the page. */
  language: string;
}

/** Reads choices of one page. */
interface ChoicesReader {
  /** Returns true for the page's slug, and for an earlier one. */
  isPage(slug: string): boolean;
  /** Returns the choices, or the reason why they are none. Without components and groups they are for the page. */
  read(written: WrittenChoices): RequestedChoices | string;
}

/** Returns a reader of choices, with the page's components and groups as they are now. */
export function createChoicesReader(reader: Reader, page: PageRow): ChoicesReader {
  const { id: pageId } = page;
  const components = new Map(
    listComponentsOfPage(reader, { pageId }).map((row) => [row.ref, row.id]),
  );
  const groups = new Map(listGroups(reader, { pageId }).map((row) => [row.ref, row.id]));
  const slugs = new Map<string, boolean>();

  function isPage(slug: string): boolean {
    if (slug === page.slug) return true;
    const isKnown = slugs.get(slug) ?? findPageBySlug(reader, { slug })?.id === pageId;
    if (slugs.size < SLUGS_MAX) slugs.set(slug, isKnown);
    return isKnown;
  }

  /** Returns the ids of refs, or the first ref that is unknown. */
  function resolve(
    refs: readonly string[],
    ids: ReadonlyMap<string, string>,
  ): { ids: string[] } | { unknown: string } {
    const found: string[] = [];
    for (const name of refs) {
      const [, slug, ref = ""] = /^(?:([^/:]*)[/:])?(.*)$/s.exec(name) ?? [];
      const id = slug === undefined || isPage(slug) ? ids.get(ref) : undefined;
      if (id === undefined) return { unknown: name };
      found.push(id);
    }
    return { ids: found };
  }

  return {
    isPage,
    read(written) {
      const ofComponents = resolve(written.components, components);
      if ("unknown" in ofComponents)
        return `components: there is no ${shown(ofComponents.unknown)}`;
      const ofGroups = resolve(written.groups, groups);
      if ("unknown" in ofGroups) return `groups: there is no ${shown(ofGroups.unknown)}`;
      const unknown = written.events.find((event) => !isEvent(event));
      if (unknown !== undefined) {
        return `events: ${shown(unknown)} is none of ${SUBSCRIBER_EVENTS.join(", ")}`;
      }
      const language = languageTagsOf(page).find(
        (tag) => tag.toLowerCase() === written.language.toLowerCase(),
      );
      if (language === undefined && written.language !== "") {
        return `language: ${shown(written.language)} is none of ${languageTagsOf(page).join(", ")}`;
      }
      const targets = [...new Set([...ofGroups.ids, ...ofComponents.ids])];
      const events = SUBSCRIBER_EVENTS.filter((event) => written.events.includes(event));
      return {
        scope: targets.length > 0 ? "selection" : "page",
        targets,
        events: events.length > 0 ? events : [...DEFAULT_EVENTS],
        ...(language === undefined ? {} : { language }),
      };
    },
  };
}

function isEvent(text: string): text is SubscriberEvent {
  return (SUBSCRIBER_EVENTS as readonly string[]).includes(text);
}

/** Returns the beginning of a text, for an error. */
export function shown(text: string): string {
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
}

/** Refs of a page's components and groups by their ids. */
export interface RefsOfPage {
  components: ReadonlyMap<string, string>;
  groups: ReadonlyMap<string, string>;
}

export function readRefs(reader: Reader, pageId: string): RefsOfPage {
  return {
    components: new Map(listComponentsOfPage(reader, { pageId }).map(({ id, ref }) => [id, ref])),
    groups: new Map(listGroups(reader, { pageId }).map(({ id, ref }) => [id, ref])),
  };
}

/** Returns the refs of chosen components and groups. */
export function refsOf(
  targets: readonly string[],
  { components, groups }: RefsOfPage,
): { components: string[]; groups: string[] } {
  return {
    components: targets.flatMap((id) => components.get(id) ?? []),
    groups: targets.flatMap((id) => groups.get(id) ?? []),
  };
}
