/* Fields of locations. No route has them as a body: the dashboard and the configuration file create locations. */
import { type Static, Type } from "@sinclair/typebox";
import { Instant, Text } from "../../base/schema";
import { Secret } from "../../base/secrets";
import { LineText } from "../../base/texts";

/** Maximum length of the name of a location, in code points. */
export const LOCATION_NAME_MAX = 60;

/** Maximum length of the id or ref of a location. */
const REFERENCE_MAX = 100;

/** An id or ref of a location in a body or query. */
export const LocationReference = Text({
  minLength: 1,
  maxLength: REFERENCE_MAX,
  description: "Id or ref of a location; `local` is the server.",
  examples: ["local", "berlin"],
});

const Name = LineText({ minLength: 1, maxLength: LOCATION_NAME_MAX });

const TOKEN_MIN = 32;

/** Maximum length of a token. */
export const TOKEN_MAX = 128;

/** Token that a configuration file gives a location. */
export const TokenText = Secret({
  minLength: TOKEN_MIN,
  maxLength: TOKEN_MAX,
  pattern: "^[0-9A-Za-z_-]+$",
  mismatch: "must have only letters, digits, _ and -",
});

export const LocationInput = Type.Object({ name: Name }, { additionalProperties: false });
export type LocationInput = Static<typeof LocationInput>;

/** Data of the event about an agent that does not call. */
export const LocationEventData = Type.Object(
  {
    id: Type.String(),
    ref: Type.String(),
    name: Type.String(),
    silent_since: Instant,
    url: Type.String({ description: "Screen of the location." }),
  },
  { title: "LocationEventData" },
);
