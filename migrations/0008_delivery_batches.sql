-- Deliveries that a large change makes: each of these events to each of these endpoints. They become rows
-- of `deliveries` a slice at a time, in the order of the events.
CREATE TABLE delivery_batches (
  id INTEGER PRIMARY KEY,
  -- JSON lists of ids.
  event_ids TEXT NOT NULL,
  webhook_ids TEXT NOT NULL,
  -- Number of deliveries that have been written, counted event by event.
  written INTEGER NOT NULL
) STRICT;
