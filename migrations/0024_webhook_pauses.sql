-- Receivers that refused messages for now, by the digest of their address. Times are unix milliseconds in UTC.
CREATE TABLE webhook_pauses (
  destination TEXT PRIMARY KEY,
  -- No message is sent to the receiver before this time.
  paused_until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
