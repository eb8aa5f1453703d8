import { LRUCache } from "lru-cache";
import {
  type ComponentStatus,
  type Impact,
  type IncidentStatus,
  type MaintenanceStatus,
  messageTone,
  STATUS_TONES,
  type Tone,
} from "../../base/status";
import type { Ctx } from "../../context";
import { type MessageKey, type Words, wordsOf } from "../../languages/words";
import type { Db } from "../../db/database";
import { countChanges, type Reader } from "../../db/statements";
import { findComponents } from "../components/store";
import { getIncident } from "../incidents/records";
import {
  type ComposedMail,
  composeMail,
  displayPhrase,
  encodeAround,
  type EncodedText,
  encodeShared,
  type MailTemplate,
  type SharedText,
} from "../mail/compose";
import {
  type Block,
  button,
  type ComponentEntry,
  momentsOf,
  footerOf,
  heading,
  type Inline,
  type Letter,
  link,
  type Moments,
  muted,
  paragraph,
  type RenderedLetter,
  renderLetter,
  renderPlace,
  title,
} from "../mail/letter";
import type { MailRow } from "../mail/store";
import { findMailKey, type MailKey, tokenOf } from "../mail/tokens";
import { getMaintenanceRecord } from "../maintenance/records";
import { linkedLanguage, withLanguage } from "../pages/language-links";
import { mailSettingsOf } from "../pages/mail";
import { pageUrl } from "../pages/addresses";
import { languageFor } from "../pages/rules";
import { findPage, type PageRow } from "../pages/store";
import { mailLink } from "../subscribers/links";
import { updateKey } from "../timeline/updates";
import { reachOf, REPLY_PREFIX, subjectLine, targetsOf } from "./lists";
import { readStatusChange } from "./mailings";
import { choiceOf, updateOf } from "./rules";
import {
  findChoice,
  findEvent,
  findFirstBegun,
  findMailing,
  findSubscriber,
  findThread,
  listCopies,
  listMailingsOfSubject,
  listSuperseded,
  type MailingRow,
  MERGED,
  type ThreadRow,
} from "./store";

/** Page of a mailing, and the words for its subscribers. */
interface LetterPage {
  name: string;
  words: Words;
  footer: string | null;
}

/** Update of an incident or a maintenance. */
interface LetterUpdate {
  status: IncidentStatus | MaintenanceStatus | typeof POSTMORTEM_STATUS;
  body: string;
  /** Unix ms. */
  at: number;
  /** Language of a text that Allclear wrote. */
  lang?: string | null;
}

/** Name of the place with the lines for one recipient. */
export const MANAGE_PLACE = "manage";

interface Common {
  /** The newest text; undefined for mailings without one, such as a reminder. */
  update: LetterUpdate | undefined;
  /** Texts of superseded mails, oldest first. */
  earlier: readonly LetterUpdate[];
  url: string;
}

interface IncidentFacts extends Common {
  name: string;
  /** Language of a name that Allclear wrote. */
  nameLang?: string | null;
  status: IncidentStatus;
  impact: Impact;
  components: readonly { name: string; status: ComponentStatus }[];
  /** Published post-mortem, if the mailing is about it. */
  postmortem: { body: string; at: number } | undefined;
}

/** Words of an incident's state, for the first line and for subjects. */
function incidentWords({ t }: Words, { status, postmortem }: IncidentFacts): string {
  return t(postmortem ? "entry.postmortem" : `incident.${status}`);
}

/** Returns the mail about an incident. */
export function incidentLetter(page: LetterPage, facts: IncidentFacts, moments: Moments): Letter {
  const { t } = page.words;
  const isOver = facts.status === "resolved";
  const { postmortem, update } = facts;
  const written = postmortem ?? update;
  const lang = postmortem ? null : update?.lang;
  const entries = facts.components.map(({ name, status }) => ({
    name,
    status: t(`status.${status}`),
    tone: STATUS_TONES[status],
  }));
  return letterOf(page, {
    tone: messageTone(facts),
    first: `${incidentWords(page.words, facts)} · ${t(`impact.${facts.impact}`)}`,
    name: facts.name,
    nameLang: facts.nameLang,
    when: written && moments.moment(written.at),
    body: written?.body,
    bodyLang: lang,
    entries,
    entriesHeading: isOver ? "mail.components" : "affected.title",
    facts,
    button: "mail.view_incident",
    moments,
  });
}

interface MaintenanceFacts extends Common {
  name: string;
  status: MaintenanceStatus;
  /** Unix ms. */
  from: number;
  until: number;
  isReminder: boolean;
  components: readonly { name: string }[];
}

/** Words of a maintenance's state, for the first line and for subjects. */
function maintenanceWords({ t }: Words, { status, isReminder }: MaintenanceFacts): string {
  return t(isReminder ? "mail.maintenance.reminder" : `mail.maintenance.${status}`);
}

/** Returns the mail about a maintenance. */
function maintenanceLetter(page: LetterPage, facts: MaintenanceFacts, moments: Moments): Letter {
  return letterOf(page, {
    tone: messageTone(facts),
    first: maintenanceWords(page.words, facts),
    name: facts.name,
    when: moments.range(facts.from, facts.until),
    body: facts.update?.body,
    bodyLang: facts.update?.lang,
    entries: facts.components.map(({ name }) => ({ name, status: "", tone: "maint" })),
    entriesHeading: "mail.components",
    facts,
    button: "mail.view_maintenance",
    moments,
  });
}

interface StatusFacts {
  name: string;
  status: ComponentStatus;
  before: ComponentStatus;
  /** Unix ms. */
  at: number;
  url: string;
}

/** Returns the mail about a changed status of a component. */
function statusLetter(page: LetterPage, facts: StatusFacts, moments: Moments): Letter {
  const { t } = page.words;
  return letterOf(page, {
    tone: STATUS_TONES[facts.status],
    first: t(`status.${facts.status}`),
    name: facts.name,
    when: moments.moment(facts.at),
    body: undefined,
    lines: [paragraph(t("mail.before", { status: t(`status.${facts.before}`) }))],
    entries: [],
    entriesHeading: "mail.components",
    facts: { update: undefined, earlier: [], url: facts.url },
    button: "mail.view_page",
    moments,
  });
}

/** Returns the line by which a recipient manages the subscription. */
export function manageBlocks(
  { name, words }: Pick<LetterPage, "name" | "words">,
  manageUrl: string,
): Block[] {
  return [
    muted(...words.parts<Inline>("mail.because", { page: { name } })),
    link(words.t("mail.manage"), manageUrl),
  ];
}

interface Parts {
  tone: Tone;
  first: string;
  name: string;
  nameLang?: string | null | undefined;
  when: string | undefined;
  body: string | undefined;
  bodyLang?: string | null | undefined;
  lines?: readonly Block[];
  entries: readonly ComponentEntry[];
  entriesHeading: MessageKey;
  facts: Common;
  button: MessageKey;
  moments: Moments;
}

function letterOf(page: LetterPage, parts: Parts): Letter {
  const { tone, first, name, when, body, entries, facts, moments } = parts;
  const { t, langOf } = page.words;
  const markdown = (source: string, lang: string | null | undefined): Block => {
    return { type: "markdown", source, url: facts.url, lang: langOf(lang) };
  };
  const blocks: Block[] = [
    { type: "status", tone, text: [first] },
    title({ name, lang: langOf(parts.nameLang) }),
    ...(when === undefined ? [] : [muted({ name: when, lang: moments.lang })]),
    ...(body === undefined ? [] : [markdown(body, parts.bodyLang)]),
    ...(parts.lines ?? []),
  ];
  if (entries.length > 0) {
    blocks.push(heading(t(parts.entriesHeading)), { type: "components", entries });
  }
  for (const [index, { status, body: source, at, lang }] of facts.earlier.entries()) {
    if (index === 0) blocks.push(heading(t("updates.earlier")));
    const key = status === POSTMORTEM_STATUS ? "entry.postmortem" : updateKey(status);
    blocks.push(
      muted(`${t(key)} · `, { name: moments.moment(at), lang: moments.lang }),
      markdown(source, lang),
    );
  }
  blocks.push(button(t(parts.button), facts.url));
  return {
    words: page.words,
    sender: page.name,
    preheader: first,
    tone,
    blocks,
    footer: [{ type: "place", name: MANAGE_PLACE }, ...footerOf(page.footer)],
  };
}

/** Status of a post-mortem in the list of earlier updates. */
const POSTMORTEM_STATUS = "post-mortem";

const POSTMORTEM = "incident.postmortem_published";

/** Letter of a mailing, with the words for its status and the present name of its subject. */
interface MailingContent {
  letter: Letter;
  status: string;
  name: string;
}

interface Source {
  baseUrl: string;
  /** The page in the language of the letter. */
  page: PageRow;
  /** Language that the links keep; undefined for that of the page itself. */
  language: string | undefined;
  words: Words;
  moments: Moments;
}

/**
 * Returns the content of a mailing from the present texts, with those of `earlier` mailings, which were not
 * sent. Undefined if its subject is gone.
 */
function readContent(
  reader: Reader,
  mailing: MailingRow,
  earlier: readonly MailingRow[],
  source: Source,
): MailingContent | undefined {
  const { kind, subjectId } = mailing;
  const page = {
    name: source.page.name,
    words: source.words,
    footer: mailSettingsOf(source.page).footer,
  };
  const address = pageUrl(source.baseUrl, source.page);
  const urlOf = (path: string) => withLanguage(address + path, source.language);
  if (kind === "component.status_changed") {
    const change = readStatusChange(reader, mailing);
    if (!change || change.status === change.before) return undefined;
    const letter = statusLetter(page, { ...change, url: urlOf("") }, source.moments);
    return { letter, status: letter.preheader, name: change.name };
  }
  const own = updateIdOf(reader, mailing);
  const textsIn = (updates: readonly Update[], postmortem?: LetterUpdate) => ({
    update: updates.filter(({ id }) => id === own).map(toLetterUpdate)[0],
    earlier: earlier.flatMap((each) => {
      if (each.kind === POSTMORTEM) return postmortem ?? [];
      const earlierId = updateIdOf(reader, each);
      return updates.filter(({ id }) => id === earlierId && id !== own).map(toLetterUpdate);
    }),
  });
  if (kind.startsWith("maintenance.")) {
    const { row, components, updates } = getMaintenanceRecord(reader, subjectId);
    const texts = textsIn(updates);
    const isReminder = kind === "maintenance.reminder";
    const facts = {
      ...texts,
      name: row.name,
      status: isReminder ? row.status : ((texts.update?.status ?? row.status) as typeof row.status),
      from: row.scheduledFor,
      until: row.scheduledUntil,
      isReminder,
      components,
      url: urlOf(`/maintenance/${row.id}`),
    };
    const letter = maintenanceLetter(page, facts, source.moments);
    return { letter, status: maintenanceWords(source.words, facts), name: row.name };
  }
  const { row, components, updates } = getIncident(reader, subjectId, false);
  const isPostmortem = kind === POSTMORTEM;
  const { postmortemBody: body, postmortemPublishedAt: at } = row;
  const postmortem = body !== null && at !== null ? { body, at } : undefined;
  const all = textsIn(updates, postmortem && { ...postmortem, status: POSTMORTEM_STATUS });
  // Of a post-mortem that was withdrawn, only the texts that it replaced are mailed.
  const isWithdrawn = isPostmortem && !postmortem;
  if (isWithdrawn && all.earlier.length === 0) return undefined;
  const texts = isWithdrawn
    ? { update: all.earlier.at(-1), earlier: all.earlier.slice(0, -1) }
    : all;
  const status = (texts.update?.status ?? row.status) as typeof row.status;
  const facts = {
    ...texts,
    name: row.name,
    nameLang: row.nameLang,
    status,
    impact: row.impact,
    components: status === "resolved" ? withPresentStatus(reader, components) : components,
    postmortem: isPostmortem ? postmortem : undefined,
    url: urlOf(`/incidents/${row.id}`),
  };
  const letter = incidentLetter(page, facts, source.moments);
  return { letter, status: incidentWords(source.words, facts), name: row.name };
}

/** Gives components their status of now, since the one that an incident set ends with it. */
function withPresentStatus<Named extends { id: string; status: ComponentStatus }>(
  reader: Reader,
  components: readonly Named[],
): Named[] {
  const present = findComponents(
    reader,
    components.map(({ id }) => id),
  );
  return components.map((component) => ({
    ...component,
    status: present.get(component.id)?.status ?? component.status,
  }));
}

interface Update {
  id: string;
  status: IncidentStatus | MaintenanceStatus;
  body: string;
  displayAt: number;
  lang: string | null;
}

function toLetterUpdate({ status, body, displayAt, lang }: Update): LetterUpdate {
  return { status, body, at: displayAt, lang };
}

/** Returns the update that a mailing is about. Reminders and post-mortems have no update of their own. */
function updateIdOf(reader: Reader, { kind, eventId }: MailingRow): string | undefined {
  if (kind === "maintenance.reminder" || kind === POSTMORTEM) return undefined;
  const data = findEvent(reader, { id: eventId })?.data;
  return data && updateOf(data)?.id;
}

/**
 * Maximum size of all composed mailings that are kept, in UTF-16 units. There is room for 100 of the largest. Each is
 * composed again after a change of its page.
 */
const CACHE_MAX = 8_000_000;
/** Superseded mails, each by the next, that are followed. */
const CHAIN_MAX = 100;

/** A mailing that was composed once for all recipients with the same earlier texts. */
interface Composed {
  /** Length of both parts. */
  size: number;
  content: MailingContent;
  /** Undefined if the places are not as expected; the mail is then composed in full. */
  parts: { text: SharedText; html: SharedText } | undefined;
  /** JSON list of the components and groups by which selections include the mailing. */
  targets: string;
  isFirst: boolean;
  /** Lines for the place of the recipient, by the link. */
  place: Record<keyof RenderedLetter, (link: string) => EncodedText>;
}

/** Stands for the link of a recipient. Links contain no character that HTML escapes. */
const MANAGE_URL = "https://manage.invalid/";

/** Returns the template of mails to subscribers. Each mailing is composed once for each set of earlier texts. */
export function createMailingTemplate(): MailTemplate<ComposedMail | "unwanted"> {
  const cache = new LRUCache<string, Composed>({
    maxSize: CACHE_MAX,
    sizeCalculation: ({ size }) => size,
  });
  const readFacts = createFactsReader();

  return (mail, env) => {
    const { ctx } = env;
    const { db, baseUrl } = ctx;
    const subscriber = findSubscriber(db, { id: mail.subscriberId ?? "" });
    const facts = readFacts(db, mail.mailingId ?? "");
    if (!facts || !subscriber) return "unwanted";
    const { mailing, page, thread, key } = facts;
    const choice = choiceOf(mailing.kind);
    if (subscriber.status !== "active" || !choice || !subscriber.events.includes(choice)) {
      return "unwanted";
    }
    const language = languageFor(page, subscriber.language);
    const words = wordsOf(language);
    const shown = { ...page, locale: language };
    const source = { page: shown, words, language: linkedLanguage(page, language) };
    const composed = compose(ctx, mailing, source, earlierMailings(db, mail, facts));
    if (!composed) return "unwanted";
    if (
      subscriber.scope === "selection" &&
      !findChoice(db, { subscriberId: subscriber.id, targets: composed.targets })
    ) {
      return "unwanted";
    }
    const linkTo = (purpose: "manage" | "unsubscribe", version?: { version: number }) =>
      mailLink(baseUrl, page, purpose, tokenOf(key, purpose, { id: subscriber.id, ...version }));
    const { content, parts, isFirst, place } = composed;
    const manage = linkTo("manage", { version: subscriber.tokenVersion });
    const body = parts
      ? {
          text: parts.text.fill({ [MANAGE_PLACE]: place.text(manage) }),
          html: parts.html.fill({ [MANAGE_PLACE]: place.html(manage) }),
        }
      : renderLetter(withBlocks(content.letter, manageBlocks({ ...page, words }, manage)));
    const unsubscribe = linkTo("unsubscribe");
    const own = mailSettingsOf(page);
    const subjectId = `<${mailing.subjectId}@${thread.domain}>`;
    return composeMail(mail, env, {
      fromName: own.from_name ?? page.name,
      replyTo: own.reply_to,
      // The name in it is the one that the thread was first mailed with.
      subject: subjectOf(page, thread.subjects[language] ?? thread.subject, content, isFirst),
      ...body,
      headers: {
        "List-Id": `${displayPhrase(page.name)} <${page.id}.${thread.domain}>`,
        "List-Unsubscribe": `<${unsubscribe}>`,
        ...(unsubscribe.startsWith("https:")
          ? { "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" }
          : {}),
        "Feedback-ID": `${mailing.kind}:${page.id}:allclear`,
        Precedence: "list",
      },
      messageId: `<${mail.id}@${thread.domain}>`,
      references: subjectId,
      inReplyTo: isFirst ? undefined : subjectId,
    });
  };

  function compose(
    { db, baseUrl }: Ctx,
    mailing: MailingRow,
    { page, words, language }: Pick<Source, "page" | "words" | "language">,
    earlier: readonly MailingRow[],
  ): Composed | undefined {
    const ids = [mailing, ...earlier].map(({ id }) => id).join(" ");
    const cacheKey = `${ids} ${page.contentVersion} ${page.version} ${page.locale} ${baseUrl}`;
    const cached = cache.get(cacheKey);
    if (cached) return cached;
    const reach = reachOf(db, mailing);
    if (!reach) return undefined;
    const source = { baseUrl, page, words, language, moments: momentsOf(page) };
    const content = readContent(db, mailing, earlier, source);
    if (!content) return undefined;
    const { text, html } = renderLetter(content.letter);
    const place = renderPlace(manageBlocks({ ...page, words }, MANAGE_URL), words);
    const encodedText = encodeShared(text, [MANAGE_PLACE]);
    const encodedHtml = encodeShared(html, [MANAGE_PLACE]);
    const composed = {
      size: text.length + html.length,
      content,
      parts: encodedText && encodedHtml ? { text: encodedText, html: encodedHtml } : undefined,
      targets: JSON.stringify(targetsOf(db, mailing, reach)),
      isFirst: findFirstBegun(db, mailing)?.id === mailing.id,
      place: {
        text: encodeAround(place.text, MANAGE_URL),
        html: encodeAround(place.html, MANAGE_URL),
      },
    };
    cache.set(cacheKey, composed);
    return composed;
  }
}

/** Facts of a mailing that is sent. */
interface MailingFacts {
  mailing: MailingRow;
  page: PageRow;
  thread: ThreadRow;
  key: MailKey;
  /** The newest mailings of its subject, oldest first. */
  all: readonly MailingRow[];
}

/**
 * Returns the function that reads the facts of a mailing; undefined if it is not sent any more. They are kept
 * until anything is written, since the mails of a mailing are composed one after the other.
 */
function createFactsReader(): (db: Db, mailingId: string) => MailingFacts | undefined {
  let kept: { version: string; facts: MailingFacts | undefined } | undefined;

  return (db, mailingId) => {
    const version = `${mailingId} ${db.foreignVersion()} ${countChanges(db, {})?.count}`;
    if (kept?.version !== version) kept = { version, facts: readFacts(db, mailingId) };
    return kept.facts;
  };

  function readFacts(reader: Reader, id: string): MailingFacts | undefined {
    const mailing = findMailing(reader, { id });
    if (!mailing || mailing.state === "stopped") return undefined;
    const page = findPage(reader, { id: mailing.pageId });
    const thread = findThread(reader, mailing);
    const key = findMailKey(reader);
    if (!page || page.visibility === "private" || page.isSample || !thread || !key) {
      return undefined;
    }
    return { mailing, page, thread, key, all: listMailingsOfSubject(reader, mailing) };
  }
}

/** Returns the mailings whose texts a mail contains besides its own, oldest first. */
function earlierMailings(reader: Reader, mail: MailRow, facts: MailingFacts): MailingRow[] {
  const { mailing: own, all } = facts;
  const first = all.find(({ cursor }) => cursor >= 0);
  const superseded =
    mail.subscriberId === null || first?.id === own.id
      ? []
      : listSuperseded(reader, { subscriberId: mail.subscriberId, subjectId: own.subjectId });
  const included = new Set([own.id]);
  // A mail that is sent again says what the first one said.
  let ids = mail.copy > 0 ? listCopies(reader, mail).map(({ id }) => id) : [mail.id];
  for (let step = 0; step < CHAIN_MAX && ids.length > 0; step++) {
    const replaced = superseded.filter(({ supersededBy }) => ids.includes(supersededBy ?? ""));
    for (const { mailingId } of replaced) if (mailingId !== null) included.add(mailingId);
    ids = replaced.map(({ id }) => id);
  }
  // Mailings that were merged are contained in the next one that began.
  let isContained = false;
  for (const { id, cursor } of all.toReversed()) {
    if (cursor >= 0) isContained = included.has(id);
    else if (cursor === MERGED && isContained) included.add(id);
  }
  return all.filter(({ id }) => id !== own.id && included.has(id));
}

function subjectOf(
  page: PageRow,
  shared: string,
  { status, name }: MailingContent,
  isFirst: boolean,
): string {
  if (mailSettingsOf(page).subject === "status")
    return subjectLine(page.name, `${status}: ${name}`);
  return isFirst ? shared : `${REPLY_PREFIX}${shared}`;
}

/** Returns a letter with blocks in the place for those of the recipient. */
function withBlocks(letter: Letter, blocks: Letter["blocks"]): Letter {
  const footer = letter.footer.flatMap((block) => (block.type === "place" ? blocks : [block]));
  return { ...letter, footer };
}
