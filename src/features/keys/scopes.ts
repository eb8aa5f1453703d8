/**
 * The seven scopes, the API's only permission mechanism. No scope implies another. Each has the
 * sentence that the dashboard, the documentation and the OpenAPI document show.
 */
export const SCOPES = {
  "read:status": "Read status page data, components, incidents and maintenance.",
  "write:incidents": "Create and update incidents.",
  "write:components": "Update component statuses.",
  "manage:monitors":
    "Create, update, delete and read monitors, whose configuration can hold secrets.",
  "write:maintenance": "Create and manage scheduled maintenance.",
  "manage:webhooks": "Configure webhook endpoints.",
  "read:analytics": "Access analytics and metrics data.",
} as const;

export type Scope = keyof typeof SCOPES;

export const SCOPE_NAMES = Object.keys(SCOPES) as Scope[];
