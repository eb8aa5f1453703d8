-- Rules by which visitors see a private page. Times are unix milliseconds in UTC.

-- Networks from which visitors see the page: a JSON list in CIDR notation.
ALTER TABLE pages ADD COLUMN networks TEXT NOT NULL DEFAULT '[]';

-- Id of the page's password; NULL without one. Each new password has another id, so that visits with an earlier one end.
ALTER TABLE pages ADD COLUMN password_id TEXT;

-- 1 while the page has links.
ALTER TABLE pages ADD COLUMN has_links INTEGER NOT NULL DEFAULT 0 CHECK (has_links IN (0, 1));

CREATE TABLE page_passwords (
  page_id TEXT PRIMARY KEY REFERENCES pages (id) ON DELETE CASCADE,
  -- argon2id as a PHC string.
  hash TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Links for visitors of a page. A link that is revoked is deleted.
CREATE TABLE page_links (
  id TEXT PRIMARY KEY,
  page_id TEXT NOT NULL REFERENCES pages (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  -- SHA-256 of the token.
  hash BLOB NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  -- The link is refused from this time on; NULL for a link without an end.
  expires_at INTEGER,
  last_used_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX page_links_by_page ON page_links (page_id);
