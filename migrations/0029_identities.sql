-- Users as other systems know them: the subject of an OpenID Connect issuer, or a name that a proxy gives (issuer 'proxy').
CREATE TABLE identities (
  id INTEGER PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  -- Name or e-mail at the issuer, for people.
  label TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER NOT NULL,
  UNIQUE (issuer, subject)
) STRICT;

CREATE INDEX identities_by_user ON identities (user_id);

-- Identity with which a session began; NULL for one that began with a password or a link. It ends with the identity.
ALTER TABLE sessions ADD COLUMN identity_id INTEGER REFERENCES identities (id) ON DELETE CASCADE;

CREATE INDEX sessions_by_identity ON sessions (identity_id) WHERE identity_id IS NOT NULL;

-- True for a link of `user recover`, with which a password is chosen even where only owners may have one.
ALTER TABLE one_time_links ADD COLUMN is_recovery INTEGER NOT NULL DEFAULT 0 CHECK (is_recovery IN (0, 1));
