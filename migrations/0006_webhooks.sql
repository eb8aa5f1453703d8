-- Who is told of what happens, and how that goes. Times are unix milliseconds in UTC.

CREATE TABLE webhooks (
  id TEXT PRIMARY KEY,
  ref TEXT NOT NULL,
  url TEXT NOT NULL,
  description TEXT,
  -- A JSON list of event types; ["*"] for all.
  events TEXT NOT NULL,
  -- Only what happens on this page; NULL for every page.
  page_id TEXT REFERENCES pages (id) ON DELETE CASCADE,
  format TEXT NOT NULL,
  -- JSON by format: what that service needs beside the URL. Secrets may be among it.
  settings TEXT NOT NULL,
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  disabled_reason TEXT,
  disabled_at INTEGER,
  -- In clear text, since it signs. After a rotation the one before signs too, for a while.
  secret TEXT NOT NULL,
  previous_secret TEXT,
  previous_secret_ends_at INTEGER,
  -- Since when every try has failed; NULL after a success.
  failing_since INTEGER,
  managed_by TEXT,
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  deleted_at INTEGER
) STRICT;

CREATE UNIQUE INDEX webhooks_by_ref ON webhooks (ref) WHERE deleted_at IS NULL;

-- One event on its way to one endpoint.
CREATE TABLE deliveries (
  id TEXT PRIMARY KEY,
  webhook_id TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
  event_id TEXT NOT NULL REFERENCES events (id) ON DELETE CASCADE,
  subject_id TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'delivered', 'failed', 'cancelled')),
  tries INTEGER NOT NULL,
  -- How many of these were made before it was last queued by hand: the waits begin anew then.
  tries_before INTEGER NOT NULL,
  -- When it is due; NULL once it is over.
  next_try_at INTEGER,
  created_at INTEGER NOT NULL,
  finished_at INTEGER
) STRICT;

CREATE INDEX deliveries_due ON deliveries (webhook_id, next_try_at, id) WHERE status = 'pending';
CREATE INDEX deliveries_by_webhook ON deliveries (webhook_id, id);
CREATE INDEX deliveries_by_event ON deliveries (event_id);
CREATE INDEX deliveries_undelivered ON deliveries (webhook_id, id) WHERE status IN ('failed', 'cancelled');

CREATE TABLE delivery_tries (
  delivery_id TEXT NOT NULL REFERENCES deliveries (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  at INTEGER NOT NULL,
  latency_ms INTEGER NOT NULL,
  -- NULL where nothing answered; then `error` says why.
  status_code INTEGER,
  error TEXT,
  -- The first 20 KB of what was answered, where that was text.
  answer TEXT,
  PRIMARY KEY (delivery_id, number)
) STRICT, WITHOUT ROWID;

-- How the tries of an endpoint went, by the hour in which they ended.
CREATE TABLE webhook_hours (
  webhook_id TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
  hour INTEGER NOT NULL,
  succeeded INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  PRIMARY KEY (webhook_id, hour)
) STRICT, WITHOUT ROWID;
