-- Monthly reports of pages, and the availability that components should reach.

-- People who see the reports of the page: nobody, signed-in users, or all who see the page.
ALTER TABLE pages ADD COLUMN report TEXT NOT NULL DEFAULT 'team' CHECK (report IN ('off', 'team', 'public'));

-- Uptime that each month should reach, in per cent; NULL without a goal.
ALTER TABLE components ADD COLUMN uptime_goal REAL CHECK (uptime_goal BETWEEN 1 AND 100);

-- Reports that were mailed to the team.
CREATE TABLE mailed_reports (
  page_id TEXT NOT NULL REFERENCES pages (id) ON DELETE CASCADE,
  -- YYYY-MM in UTC.
  month TEXT NOT NULL,
  -- SHA-256 of the figures as they were mailed, in hexadecimal.
  digest TEXT NOT NULL,
  -- Unix milliseconds in UTC.
  mailed_at INTEGER NOT NULL,
  PRIMARY KEY (page_id, month)
) STRICT;
