-- sabre/dav 1.8's tables for calendars, with the column types and indexes of its own file for MySQL, on InnoDB. Names, URIs
-- and iCalendar data are bytes: they compare as they are written. Its tables for address books and locks are left out,
-- since nothing reads them. `users` has a password instead of sabre's digest, and `tickets` is ours.

CREATE TABLE users (
  id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  username VARBINARY(50) NOT NULL,
  password VARBINARY(255) NOT NULL,
  UNIQUE (username)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4;

CREATE TABLE principals (
  id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  uri VARBINARY(200) NOT NULL,
  email VARBINARY(80),
  displayname VARCHAR(80),
  vcardurl VARCHAR(255),
  UNIQUE (uri)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4;

CREATE TABLE groupmembers (
  id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  principal_id INT UNSIGNED NOT NULL,
  member_id INT UNSIGNED NOT NULL,
  UNIQUE (principal_id, member_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4;

CREATE TABLE calendars (
  id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  principaluri VARBINARY(100),
  displayname VARCHAR(100),
  uri VARBINARY(200),
  ctag INT UNSIGNED NOT NULL DEFAULT 0,
  description TEXT,
  calendarorder INT UNSIGNED NOT NULL DEFAULT 0,
  calendarcolor VARBINARY(10),
  timezone TEXT,
  components VARBINARY(21),
  transparent TINYINT(1) NOT NULL DEFAULT 0,
  UNIQUE (principaluri, uri)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4;

-- The spelling of `occurence` is sabre's. Both are seconds since 1970; an event without an end has its last one in 2038.
CREATE TABLE calendarobjects (
  id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  calendardata MEDIUMBLOB,
  uri VARBINARY(200),
  calendarid INT UNSIGNED NOT NULL,
  lastmodified INT UNSIGNED,
  etag VARBINARY(32),
  size INT UNSIGNED NOT NULL,
  componenttype VARBINARY(8),
  firstoccurence INT UNSIGNED,
  lastoccurence INT UNSIGNED,
  UNIQUE (calendarid, uri)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4;

-- Who knows a ticket may read that one calendar, without a password. `expires` in seconds since 1970; NULL is never.
CREATE TABLE tickets (
  ticket VARBINARY(64) NOT NULL PRIMARY KEY,
  calendarid INT UNSIGNED NOT NULL,
  created INT UNSIGNED NOT NULL,
  expires INT UNSIGNED,
  INDEX (calendarid)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4;
