-- 1 for a token of another product with fewer than 16 characters, which can be guessed; NULL for others.
ALTER TABLE monitor_tokens ADD COLUMN is_short INTEGER CHECK (is_short = 1);
