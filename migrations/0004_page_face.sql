-- What a page looks like from outside: its own host names and its own logo.

-- The host names that serve this page and nothing else, as a JSON list; links are built from the first.
ALTER TABLE pages ADD COLUMN custom_domains TEXT NOT NULL DEFAULT '[]';
-- What the logo's file is called: its hash and its size in pixels, so that nobody reads the picture for them.
ALTER TABLE pages ADD COLUMN logo TEXT;

CREATE TABLE page_logos (
  page_id TEXT PRIMARY KEY REFERENCES pages (id) ON DELETE CASCADE,
  media_type TEXT NOT NULL CHECK (media_type IN ('image/png', 'image/jpeg', 'image/webp')),
  sha256 BLOB NOT NULL CHECK (length(sha256) = 32),
  width INTEGER NOT NULL CHECK (width BETWEEN 1 AND 2000),
  height INTEGER NOT NULL CHECK (height BETWEEN 1 AND 2000),
  bytes BLOB NOT NULL CHECK (length(bytes) BETWEEN 1 AND 131072)
) STRICT;
