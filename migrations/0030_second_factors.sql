-- Second factors of users: an app that shows codes, and recovery codes. Times are unix milliseconds in UTC.

CREATE TABLE second_factors (
  user_id TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  -- In the clear, since codes are computed from it.
  secret BLOB NOT NULL CHECK (length(secret) = 20),
  -- Period of 30 seconds since 1970 of the last accepted code. Codes of it and of earlier periods are used up.
  last_period INTEGER NOT NULL,
  -- JSON list of the times of wrong codes within the last hour.
  wrong_codes TEXT NOT NULL,
  -- Number of pauses in which no code of the app is accepted; each lasts twice as long as the one before.
  pauses INTEGER NOT NULL,
  paused_until INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Recovery codes that are not used yet.
CREATE TABLE recovery_codes (
  hash BLOB PRIMARY KEY CHECK (length(hash) = 32),
  user_id TEXT NOT NULL REFERENCES second_factors (user_id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE INDEX recovery_codes_by_user ON recovery_codes (user_id);

-- Sign-ins whose password was right and whose code has not come yet. Only the hash of the token is kept.
CREATE TABLE sign_in_steps (
  hash BLOB PRIMARY KEY CHECK (length(hash) = 32),
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  tries INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  -- Set after a link of `allclear user recover`, which works with any setting.
  is_recovery INTEGER NOT NULL DEFAULT 0 CHECK (is_recovery IN (0, 1))
) STRICT, WITHOUT ROWID;

CREATE INDEX sign_in_steps_by_user ON sign_in_steps (user_id, expires_at);
