/*
 * The address of the list of keys, and revoking the keys that were selected in it: a screen that names them, then the
 * change. `addSelectionRoutes` is the entrance.
 */
import type { Actor } from "../../../base/actor";
import { sum } from "../../../base/numbers";
import { plural } from "../../../base/text";
import type { Ctx } from "../../../context";
import type { Tx } from "../../../db/statements";
import { seeOther } from "../../../http/answers";
import { actorOf, sessionOf } from "../../../http/request-context";
import { CellNote } from "../../../ui/list";
import { DialogForm } from "../../../ui/form";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import type { FlashMessage } from "../../../ui/frame/flashes";
import { keyPath, KEYS_PATH, withQuery } from "../../../ui/frame/paths";
import type { ScreenRequest } from "../../../ui/frame/render";
import type { Area } from "../../../ui/screens/area";
import { readOrder } from "../../../ui/screens/list";
import { changeSelected, SELECTION_MAX, selectionError } from "../../../ui/screens/selection";
import { revokeKey } from "../keys";
import { type KeyListing, listKeysById, listMatchingLiveKeys } from "../records";
import { KEY_FILTERS, KEY_SORTS, type KeyFilter, type KeyOrder, stateOfKey } from "../rules";
import { findKey } from "../store";
import { describeReach, LastUse } from "./detail";

type Query = Readonly<Record<string, string | undefined>>;

/** Query of the list of keys. */
export interface KeyListQuery {
  search: string;
  filter: KeyFilter;
  /** Undefined for the newest first. */
  order: KeyOrder | undefined;
  /** Position of the last key of the part before; undefined for the first part. */
  before: string | undefined;
}

/** Reads the query of the list. Invalid parameters are ignored. */
export function readKeyQuery(query: Query): KeyListQuery {
  return {
    search: (query["q"] ?? "").trim(),
    filter: KEY_FILTERS.find((filter) => filter === query["show"]) ?? "all",
    order: readOrder(query, KEY_SORTS),
    before: query["before"] || undefined,
  };
}

/** Returns the address of the list, or of a form of its selected keys, with a query. */
export function keyListPath(
  { search, filter, order, before }: KeyListQuery,
  path: string = KEYS_PATH,
): string {
  const show = filter === "all" ? undefined : filter;
  return withQuery(path, { q: search, show, sort: order, before });
}

/** Path to which the selected keys are sent. */
export const SELECTED_KEYS_PATH = `${KEYS_PATH}/selected`;
const REVOKE_PATH = `${SELECTED_KEYS_PATH}/revoke`;

/** Adds the routes that ask before the selected keys are revoked, and revoke them. */
export function addSelectionRoutes(area: Area, deps: AdminDependencies): void {
  const { ctx, flashes, usage, writeAs } = deps;

  function back(at: ScreenRequest & { query: Query }, message: FlashMessage): Response {
    flashes.put(sessionOf(at.requestContext).id, message);
    return seeOther(keyListPath(readKeyQuery(at.query)));
  }

  // A browser can open these addresses with GET, such as after signing in again.
  for (const path of ["/selected", "/selected/revoke"] as const) {
    area.screen(path, () => ({ path: KEYS_PATH }));
  }

  area.post("/selected", async (at) => {
    const now = ctx.clock.now();
    const list = readKeyQuery(at.query);
    const ids =
      at.sent.text("all") === "1"
        ? listMatchingLiveKeys(ctx.db, { ...list, limit: SELECTION_MAX + 1, now })
        : [...new Set(at.sent.all("id"))];
    const error = selectionError(ids, "key");
    if (error !== undefined) return back(at, { tone: "major", text: error });
    const found = listKeysById(ctx.db, ids, now, usage.pendingLastUse);
    const keys = found.filter(({ state }) => state === "live");
    if (keys.length === 0) {
      return back(at, { tone: "maint", text: "The selected keys do not work any more." });
    }
    const title = `Revoke ${plural(keys.length, "key")}`;
    return area.answer(at, { title, children: <RevokeSelected {...{ title, keys, list, now }} /> });
  });

  area.post("/selected/revoke", async (at) => {
    const ids = [...new Set(at.sent.all("id"))];
    const error = selectionError(ids, "key");
    if (error !== undefined) return back(at, { tone: "major", text: error });
    const actor = actorOf(at.requestContext);
    const { results, left } = await changeSelected(
      ids,
      (change) => writeAs(at.requestContext, change),
      (tx, id) => revokeIfLive(ctx, tx, id, actor),
    );
    const revoked = results.filter(Boolean).length;
    const ended = results.length - revoked;
    const are = (count: number) => `${plural(count, "key")} ${count === 1 ? "was" : "were"}`;
    const texts = [
      revoked > 0
        ? `${are(revoked)} revoked. ${describeReach(await ctx.findNodesBehind?.(), revoked)}`
        : undefined,
      ended > 0 ? `${are(ended)} no longer in use already.` : undefined,
      left > 0
        ? `${are(left)} not revoked, because the change could not be saved. Try again.`
        : undefined,
    ];
    const tone = left > 0 ? "major" : revoked > 0 ? "ok" : "maint";
    return back(at, { tone, text: texts.filter((text) => text !== undefined).join(" ") });
  });
}

/** Revokes a key that works. Returns false for one that has ended or does not exist. */
function revokeIfLive(ctx: Ctx, tx: Tx, id: string, actor: Actor): boolean {
  const row = findKey(tx, { id });
  if (!row || stateOfKey(row, ctx.clock.now()) !== "live") return false;
  revokeKey(ctx, tx, id, actor);
  return true;
}

interface RevokeSelectedProps {
  title: string;
  keys: readonly KeyListing[];
  /** Part of the list in which they were selected. */
  list: KeyListQuery;
  now: number;
}

/** Asks before selected keys are revoked, and names them with their last use. */
function RevokeSelected({ title, keys, list, now }: RevokeSelectedProps) {
  const inUse = keys.filter(({ requests_24h: requests }) => sum(requests) > 0).length;
  return (
    <DialogForm
      title={title}
      action={keyListPath(list, REVOKE_PATH)}
      button={title}
      isDanger
      cancelHref={keyListPath(list)}
    >
      <p>
        Every value of these keys stops working at once. This cannot be undone. The keys stay in the
        list.{" "}
        {inUse > 0 ? (
          <strong>{plural(inUse, "key")} made requests in the last 24 hours.</strong>
        ) : (
          "No request was made with them in the last 24 hours."
        )}
      </p>
      <ul class="plain-list chosen">
        {keys.map((key) => (
          <li key={key.id}>
            <input type="hidden" name="id" value={key.id} />
            <a href={keyPath(key.id)}>{key.name}</a> <code>{key.start}…</code>
            <CellNote>
              {plural(sum(key.requests_24h), "request")} in the last 24 hours.{" "}
              <LastUse listing={key} now={now} />
            </CellNote>
          </li>
        ))}
      </ul>
    </DialogForm>
  );
}
