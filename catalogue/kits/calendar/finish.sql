-- What follows from the rows, in the state in which every run begins.

-- As sabre/dav makes them.
UPDATE calendarobjects SET etag = MD5(calendardata);

-- The data set's accounts have their own name as the password, as everybody may read in data.lua. The hash is salted and
-- quick to make, in the form sha256$SALT$HEX; with the parameter password_cost a slow one takes its place at first use.
UPDATE users SET password = CONCAT('sha256$', LEFT(SHA2(CONCAT('salt ', id), 256), 16), '$',
  SHA2(CONCAT(LEFT(SHA2(CONCAT('salt ', id), 256), 16), username), 256));

-- The start state in figures, for the check after a run.
CREATE TABLE baseline (
  objects BIGINT NOT NULL,
  changes BIGINT NOT NULL,
  made INT UNSIGNED NOT NULL
) ENGINE = InnoDB
SELECT
  (SELECT COUNT(*) FROM calendarobjects) AS objects,
  (SELECT SUM(ctag) FROM calendars) AS changes,
  (SELECT MAX(lastmodified) FROM calendarobjects) AS made;

ANALYZE TABLE users, principals, calendars, calendarobjects, tickets;
