/* Locations in the configuration file: their schema, `applyLocations`, `pruneLocations` and `exportLocations`. */
import { type Static, Type } from "@sinclair/typebox";
import { type FieldError, pointer } from "../../base/errors";
import { Nullable, Text } from "../../base/schema";
import { ANOTHER_SECRET, SECRET } from "../../base/secrets";
import { RefText } from "../../base/texts";
import { FieldErrors, schemaErrors, validate } from "../../base/validation";
import type { Reader } from "../../db/statements";
import { type ApplyRun, type Entry, PreviousRefs, RowsByRef } from "../apply/run";
import {
  createWithoutToken,
  deleteLocation,
  hasToken,
  rotateLocationToken,
  tokensOfLocation,
  updateLocation,
} from "./locations";
import { listLocations, type LocationRow } from "./store";
import { LocationInput, TokenText } from "./wire";

/** Longest token as it is written, in code points: it may be the name of a variable. */
const WRITTEN_TOKEN_MAX = 300;

/** A location in a file. A token that is null or left out stays. */
export const FileLocation = Type.Object(
  {
    ...LocationInput.properties,
    ref: Type.Optional(RefText),
    previous_refs: PreviousRefs,
    token: Type.Optional(Nullable(Text({ maxLength: WRITTEN_TOKEN_MAX }))),
  },
  { additionalProperties: false },
);
export type FileLocation = Static<typeof FileLocation>;

/** Returns the location with its token replaced by the result of `change`, which receives it and its pointer. */
export function mapLocationToken(
  location: FileLocation,
  change: (text: string, at: string) => string,
): FileLocation {
  if (typeof location.token !== "string") return location;
  return { ...location, token: change(location.token, pointer("token")) };
}

/** Returns the errors of a location's token, in which variables are replaced. */
export function validateLocationToken({ token }: FileLocation): readonly FieldError[] {
  if (token === undefined || token === null) return [];
  const errors = new FieldErrors();
  errors.addAll(["token"], schemaErrors(TokenText, token));
  return errors.all;
}

type LocationEntry = Entry<FileLocation, LocationRow>;

/** Locations of a file, and those that were stored before. */
interface AppliedLocations {
  entries: readonly LocationEntry[];
  stored: readonly LocationRow[];
}

/** Applies locations, before the monitors. */
export function applyLocations(
  run: ApplyRun,
  locations: readonly FileLocation[],
): AppliedLocations {
  const stored = listLocations(run.tx, {});
  const rows = new RowsByRef<LocationRow>(stored);
  const entries = locations.map((item, index) => rows.match(item, ["locations", index]));
  for (const entry of entries) applyLocation(run, entry);
  return { entries, stored };
}

/** Handles the locations that the file no longer has, after the monitors, which may have named them. */
export function pruneLocations(run: ApplyRun, { entries, stored }: AppliedLocations): void {
  const { ctx, tx, options } = run;
  const objects = stored.map((row) => ({ row, ref: row.ref }));
  const kept = entries.map(({ row }) => ({ row: row && { row, ref: row.ref } }));
  run.handleLeftovers("location", objects, kept, (id) =>
    run.locatingErrors(["locations"], () => deleteLocation(ctx, tx, id, options.actor)),
  );
}

function applyLocation(run: ApplyRun, { item, ref, path, row }: LocationEntry): void {
  const { ctx, tx, options } = run;
  const { name } = item;
  const token = item.token ?? undefined;
  const hasAny = row !== undefined && tokensOfLocation(tx, row.id, ctx.clock.now()).length > 0;
  const current = hasAny ? SECRET : null;
  const isKept = token === undefined || (row !== undefined && hasToken(tx, row.id, token));
  const give = (location: LocationRow) =>
    isKept ? location : rotateLocationToken(ctx, tx, location.id, "24h", options.actor, token).row;
  run.apply<LocationRow, Record<string, unknown>>({
    noun: "location",
    label: row?.ref ?? ref,
    address: null,
    path,
    row,
    current: (stored) => ({ name: stored.name, ref: stored.ref, token: current }),
    desired: {
      name,
      ref,
      token: isKept ? current : current === null ? SECRET : ANOTHER_SECRET,
    },
    create: () =>
      give(
        createWithoutToken(ctx, tx, validate(LocationInput, { name }), options.actor, {
          ref,
          managedBy: "apply",
        }),
      ),
    update: ({ id }) =>
      give(updateLocation(ctx, tx, id, validate(LocationInput, { name }), options.actor, { ref })),
  });
}

/** Returns all locations for the file, oldest first, with null for their tokens. */
export function exportLocations(reader: Reader): FileLocation[] {
  return listLocations(reader, {}).map(({ name, ref }) => ({ name, ref, token: null }));
}
