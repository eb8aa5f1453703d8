-- Who works with the dashboard. Times are unix milliseconds in UTC.

CREATE TABLE users (
  id TEXT PRIMARY KEY,
  email TEXT NOT NULL COLLATE NOCASE,
  name TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'editor', 'viewer')),
  -- argon2id in PHC form; NULL until an invited user has chosen a password.
  password_hash TEXT,
  password_changed_at INTEGER,
  last_login_at INTEGER,
  disabled_at INTEGER,
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  deleted_at INTEGER
) STRICT;

CREATE UNIQUE INDEX users_by_email ON users (email) WHERE deleted_at IS NULL;

-- One row for each browser that is signed in. Only the token's hash is kept.
CREATE TABLE sessions (
  id INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  -- Whether it was begun behind HTTPS. It opens nothing where that has changed since: a token that
  -- went over the wire in clear text is worth nothing once the installation has HTTPS.
  is_secure INTEGER NOT NULL CHECK (is_secure IN (0, 1)),
  created_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  ip TEXT NOT NULL,
  user_agent TEXT NOT NULL
) STRICT;

CREATE INDEX sessions_by_user ON sessions (user_id, created_at);

-- Links that work once: to set the installation up, to accept an invitation, to choose a new password.
CREATE TABLE one_time_links (
  hash BLOB PRIMARY KEY CHECK (length(hash) = 32),
  purpose TEXT NOT NULL CHECK (purpose IN ('setup', 'invite', 'reset')),
  user_id TEXT REFERENCES users (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX one_time_links_by_user ON one_time_links (user_id);

-- What is set in the dashboard rather than by flags and environment. Values are JSON.
CREATE TABLE settings (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Forms that have made something, so that sending one twice makes one thing.
CREATE TABLE form_submissions (
  hash BLOB PRIMARY KEY CHECK (length(hash) = 32),
  subject_id TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX form_submissions_by_time ON form_submissions (at);

-- The hours in which a key was refused for its limit: few among many, and asked for at each listing.
CREATE INDEX api_key_hours_limited ON api_key_hours (key_id, hour, limited) WHERE limited > 0;
