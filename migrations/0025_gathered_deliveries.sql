-- Messages about monitors that are gathered into one, and deliveries that a newer message has overtaken. Times are unix
-- milliseconds in UTC.

-- Time for which messages for people about monitors are gathered; 0 to send each by itself.
ALTER TABLE webhooks ADD COLUMN group_seconds INTEGER NOT NULL DEFAULT 30 CHECK (group_seconds BETWEEN 0 AND 300);

-- The time after a message about monitors in which further ones wait, by endpoint. Kept after its end.
CREATE TABLE webhook_bursts (
  webhook_id TEXT PRIMARY KEY REFERENCES webhooks (id) ON DELETE CASCADE,
  ends_at INTEGER NOT NULL,
  -- 1 once a message in it said that a monitor went down.
  has_down INTEGER NOT NULL CHECK (has_down IN (0, 1))
) STRICT, WITHOUT ROWID;

-- Deliveries that are sent as one message, from its first attempt on.
CREATE TABLE delivery_groups (
  id TEXT PRIMARY KEY,
  webhook_id TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX delivery_groups_by_time ON delivery_groups (created_at);

-- Events of incidents that take the place of a monitor's own message: a JSON object of event ids and monitor ids.
ALTER TABLE delivery_batches ADD COLUMN monitors TEXT NOT NULL DEFAULT '{}';

CREATE TABLE new_deliveries (
  id TEXT PRIMARY KEY,
  webhook_id TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
  event_id TEXT NOT NULL REFERENCES events (id) ON DELETE CASCADE,
  subject_id TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'delivered', 'failed', 'cancelled', 'superseded')),
  tries INTEGER NOT NULL,
  -- Number of these that were made before it was last queued by hand: the waits begin again then.
  tries_before INTEGER NOT NULL,
  -- Time at which it is due; NULL once it is over.
  next_try_at INTEGER,
  created_at INTEGER NOT NULL,
  finished_at INTEGER,
  -- Monitor whose state a message for people says. NULL for other messages, and once an overtaken one is queued by hand.
  monitor_id TEXT,
  -- 1 if it joins the next group of its endpoint.
  gathers INTEGER NOT NULL DEFAULT 0 CHECK (gathers IN (0, 1)),
  group_id TEXT REFERENCES delivery_groups (id) ON DELETE SET NULL
) STRICT;

INSERT INTO new_deliveries (id, webhook_id, event_id, subject_id, status, tries, tries_before, next_try_at, created_at,
  finished_at, monitor_id)
SELECT delivery.id, delivery.webhook_id, delivery.event_id, delivery.subject_id, delivery.status, delivery.tries,
  delivery.tries_before, delivery.next_try_at, delivery.created_at, delivery.finished_at,
  CASE WHEN event.type IN ('monitor.down', 'monitor.up', 'monitor.degraded', 'monitor.reminder')
    AND webhook.format NOT IN ('standard', 'statuspage', 'uptime-kuma') THEN delivery.subject_id END
FROM deliveries AS delivery
JOIN events AS event ON event.id = delivery.event_id
JOIN webhooks AS webhook ON webhook.id = delivery.webhook_id
ORDER BY delivery.id;

DROP TABLE deliveries;
ALTER TABLE new_deliveries RENAME TO deliveries;

CREATE INDEX deliveries_due ON deliveries (webhook_id, next_try_at, id) WHERE status = 'pending';
CREATE INDEX deliveries_by_webhook ON deliveries (webhook_id, id);
CREATE INDEX deliveries_by_event ON deliveries (event_id);
CREATE INDEX deliveries_undelivered ON deliveries (webhook_id, id) WHERE status IN ('failed', 'cancelled');
CREATE INDEX deliveries_gathered ON deliveries (webhook_id, id) WHERE gathers = 1 AND status = 'pending';
CREATE INDEX deliveries_by_group ON deliveries (group_id, id, tries_before, status) WHERE group_id IS NOT NULL;
CREATE INDEX deliveries_by_monitor ON deliveries (webhook_id, monitor_id, id) WHERE monitor_id IS NOT NULL;
