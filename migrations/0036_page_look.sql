-- Look of pages: settings, and a picture for tabs and home screens.

-- Settings of the look as a JSON object: CSS as it was written and as it is sent, notes, links, what is hidden, a notice.
ALTER TABLE pages ADD COLUMN look TEXT NOT NULL DEFAULT '{}';
-- Name of the favicon's file, which contains its hash and its size in pixels.
ALTER TABLE pages ADD COLUMN favicon TEXT;

CREATE TABLE page_favicons (
  page_id TEXT PRIMARY KEY REFERENCES pages (id) ON DELETE CASCADE,
  media_type TEXT NOT NULL CHECK (media_type IN ('image/png', 'image/jpeg', 'image/webp')),
  sha256 BLOB NOT NULL CHECK (length(sha256) = 32),
  width INTEGER NOT NULL CHECK (width BETWEEN 1 AND 2000),
  height INTEGER NOT NULL CHECK (height BETWEEN 1 AND 2000),
  bytes BLOB NOT NULL CHECK (length(bytes) BETWEEN 1 AND 131072)
) STRICT;
