-- Its place is held for the page's logo and domains.
SELECT 1;
