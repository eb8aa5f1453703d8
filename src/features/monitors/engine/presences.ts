import { LOCAL } from "../../../base/status";
import { MINUTE_MS, SECOND_MS, toIso } from "../../../base/time";
import type { Ctx } from "../../../context";
import type { Tx } from "../../../db/statements";
import { findLocation, listLocations, saveContact, saveOffline } from "../../locations/store";
import { type ContactSource, type Presence, presenceAfter, storedSilences } from "../agent-contact";

/** Silence after which people get a message. */
const OFFLINE_MS = 3 * MINUTE_MS;
/** Minimum time between two writes of a contact. */
const SAVE_MS = 15 * SECOND_MS;

/** Contact with the agent of a location. */
interface Contact {
  name: string;
  /** Last request on the monotonic clock; the creation of a location whose agent has not called yet. */
  contactMonotonic: number;
  /** The same in unix ms; undefined before the first request. */
  contactAt: number | undefined;
  agentVersion: string;
  /** Time of the last write on the monotonic clock. */
  savedAt: number;
  hasNews: boolean;
  /** True if a message about its silence was recorded. */
  isOffline: boolean;
  /** As of the last look, or the last request. */
  presence: Presence;
}

/**
 * Contact with the agents of all locations, on the monotonic clock. Times in which this server was off are not silences
 * of the agents.
 */
export class AgentPresences implements ContactSource {
  readonly #ctx: Ctx;
  readonly #contacts = new Map<string, Contact>();
  #isReporting = false;

  constructor(ctx: Ctx) {
    this.#ctx = ctx;
  }

  get size(): number {
    return this.#contacts.size;
  }

  /** Reads the locations. */
  read(): void {
    const { clock, db } = this.#ctx;
    const silenceOf = storedSilences(this.#ctx);
    const rows = listLocations(db, {});
    const ids = new Set(rows.map(({ id }) => id));
    for (const id of this.#contacts.keys()) if (!ids.has(id)) this.#contacts.delete(id);
    for (const row of rows) {
      const { id, name, contactAt, offlineSince } = row;
      const known = this.#contacts.get(id);
      if (known) {
        known.name = name;
        continue;
      }
      const silenceMs = silenceOf(row);
      this.#contacts.set(id, {
        name,
        contactMonotonic: clock.monotonic() - silenceMs,
        contactAt: contactAt ?? undefined,
        agentVersion: "",
        savedAt: Number.NEGATIVE_INFINITY,
        hasNews: false,
        isOffline: offlineSince !== null,
        presence: presenceAfter(silenceMs),
      });
    }
  }

  /** Notes a request of an agent. Returns true if it was out of contact before. */
  noteCall(locationId: string, agentVersion: string): boolean {
    if (!this.#contacts.has(locationId)) this.read();
    const contact = this.#contacts.get(locationId);
    if (!contact) return false;
    const { clock } = this.#ctx;
    const wasAway = contact.presence !== "present";
    Object.assign(contact, {
      contactMonotonic: clock.monotonic(),
      contactAt: clock.now(),
      agentVersion,
      hasNews: true,
      presence: "present",
    });
    return wasAway;
  }

  /** Ids of the locations that are left out. */
  get leftOut(): string[] {
    const all = [...this.#contacts];
    return all.filter(([, { presence }]) => presence === "left_out").map(([id]) => id);
  }

  /** Returns the contact with a location. One that is unknown here is present. */
  presenceOf(locationId: string): Presence {
    const contact = this.#contacts.get(locationId);
    return locationId === LOCAL || !contact ? "present" : contact.presence;
  }

  contactAt(locationId: string): number | undefined {
    return this.#contacts.get(locationId)?.contactAt;
  }

  /** Returns the name of a location. */
  nameOf(locationId: string): string {
    return this.#contacts.get(locationId)?.name ?? locationId;
  }

  /** Leaves a time out of account in which this process did not run, in ms: no agent could reach it. */
  forgive(ms: number): void {
    const now = this.#ctx.clock.monotonic();
    for (const contact of this.#contacts.values()) {
      contact.contactMonotonic = Math.min(now, contact.contactMonotonic + ms);
    }
  }

  /** Records messages about silent agents. Returns the locations that are out of contact, or left out, from now on. */
  look(): { id: string; presence: "silent" | "left_out" }[] {
    const changed: { id: string; presence: "silent" | "left_out" }[] = [];
    for (const [id, contact] of this.#contacts) {
      const silenceMs = this.#silenceOf(contact);
      if (silenceMs >= OFFLINE_MS && !contact.isOffline) this.#report(id, contact, silenceMs);
      const presence = presenceAfter(silenceMs);
      if (presence === contact.presence) continue;
      contact.presence = presence;
      if (presence !== "present") changed.push({ id, presence });
    }
    return changed;
  }

  /** Saves the contacts that are new since their last write, in a transaction that is written anyway. */
  save(tx: Tx): void {
    const now = this.#ctx.clock.monotonic();
    for (const [id, contact] of this.#contacts) {
      const { contactAt, agentVersion, hasNews, savedAt, isOffline } = contact;
      if (!hasNews || contactAt === undefined || (now - savedAt < SAVE_MS && !isOffline)) continue;
      saveContact(tx, { id, contactAt, agentVersion, offlineSince: null });
      Object.assign(contact, { savedAt: now, hasNews: false, isOffline: false });
    }
  }

  #silenceOf({ contactMonotonic }: Contact): number {
    return this.#ctx.clock.monotonic() - contactMonotonic;
  }

  /** Records the event about a silent agent. The next look tries again if that fails. */
  #report(id: string, contact: Contact, silenceMs: number): void {
    // Before its first call, an agent is not set up yet.
    if (contact.contactAt === undefined || this.#isReporting) return;
    this.#isReporting = true;
    const { clock, db, log, outbox } = this.#ctx;
    const since = clock.now() - silenceMs;
    db.write((tx) => {
      const location = findLocation(tx, { id });
      if (!location) return;
      saveOffline(tx, { id, offlineSince: since });
      outbox.record(tx, {
        type: "location.offline",
        pageId: null,
        subjectId: id,
        data: {
          id,
          ref: location.ref,
          name: location.name,
          silent_since: toIso(since),
          url: `${this.#ctx.baseUrl}/admin/settings/locations/${id}`,
        },
      });
    })
      .then(() => {
        contact.isOffline = true;
        log.warn({ location: id, since: new Date(since) }, "the agent of a location is silent");
      })
      .catch((error: unknown) => {
        log.warn({ err: error }, "the event of a silent location could not be recorded");
      })
      .finally(() => {
        this.#isReporting = false;
      });
  }
}
