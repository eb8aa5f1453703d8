import { Type } from "@sinclair/typebox";
import { type FieldError, pointer } from "../../../base/errors";
import { Nullable, OneOf, Text } from "../../../base/schema";
import { secretPart } from "./secret-parts";
import { HTTP_SCHEMES, Url, urlError } from "./urls";

const AUTHS = ["basic", "body"] as const;

/** Client credentials (RFC 6749, 4.4) for the access token of an HTTP check. */
export interface OAuth2 {
  token_url: string;
  client_id: string;
  /** Secret. */
  client_secret?: string | null;
  scopes?: string[];
  audience?: string;
  auth?: (typeof AUTHS)[number];
}

// A scope-token of RFC 6749.
const SCOPE = "^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$";

const open = {
  token_url: Url(HTTP_SCHEMES, "https://login.example.com/token"),
  client_id: Text({ minLength: 1, maxLength: 500 }),
  scopes: Type.Array(
    Text({
      minLength: 1,
      maxLength: 200,
      pattern: SCOPE,
      mismatch: "must have only visible ASCII characters other than quotes and backslashes",
    }),
    { maxItems: 50 },
  ),
  audience: Text({ minLength: 1, maxLength: 2_000 }),
  auth: OneOf(AUTHS, {
    description:
      "Selects if the credentials are sent in the Authorization header or in the body. Default: basic.",
  }),
};

const DESCRIPTION =
  "Client credentials of OAuth 2.0. Their access token is sent as Authorization: Bearer.";

export const OAuth2Body = Type.Object(
  {
    token_url: open.token_url,
    client_id: open.client_id,
    client_secret: secretPart(2_000),
    scopes: Type.Optional(open.scopes),
    audience: Type.Optional(open.audience),
    auth: Type.Optional(open.auth),
  },
  { additionalProperties: false, description: DESCRIPTION },
);

export const OAuth2Shown = Type.Object(
  {
    ...open,
    audience: Nullable(open.audience),
    has_client_secret: Type.Boolean({
      description: "True if there is a client secret. It is never returned.",
    }),
  },
  { description: DESCRIPTION },
);

/** Returns the settings with defaults. */
export function completedOAuth2(settings: OAuth2) {
  return {
    token_url: settings.token_url,
    client_id: settings.client_id,
    client_secret: settings.client_secret ?? "",
    scopes: settings.scopes ?? [],
    audience: settings.audience ?? null,
    auth: settings.auth ?? ("basic" as const),
  };
}

/** Returns the settings as they are shown, without the secret. */
export function presentOAuth2(settings: OAuth2) {
  const { client_secret, ...shown } = completedOAuth2(settings);
  return { ...shown, has_client_secret: client_secret !== "" };
}

/** Returns errors that the schema cannot express; pointers start at the config of the monitor. */
export function validateOAuth2({ token_url }: OAuth2): FieldError[] {
  const detail = urlError(token_url, HTTP_SCHEMES, "use client_id and client_secret");
  return detail === undefined ? [] : [{ pointer: pointer("oauth2", "token_url"), detail }];
}
