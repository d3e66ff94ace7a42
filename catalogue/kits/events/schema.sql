-- The calendar's tables. Secondary indexes and foreign keys are made in finish.sql.j2, after the rows. Texts compare as
-- they are written, so that no two names are taken for one.

CREATE TABLE ADDRESS (
  addressid INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  street1 VARCHAR(55) NOT NULL,
  street2 VARCHAR(55),
  city VARCHAR(55) NOT NULL,
  state VARCHAR(25) NOT NULL,
  zip VARCHAR(12) NOT NULL,
  country VARCHAR(55) NOT NULL,
  latitude DECIMAL(14, 10) NOT NULL,
  longitude DECIMAL(14, 10) NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE PERSON (
  userid INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  username VARCHAR(25) NOT NULL,
  password VARCHAR(255) NOT NULL,
  firstname VARCHAR(25) NOT NULL,
  lastname VARCHAR(25) NOT NULL,
  email VARCHAR(90) NOT NULL,
  telephone VARCHAR(25) NOT NULL,
  imageurl VARCHAR(100) NOT NULL,
  imagethumburl VARCHAR(100) NOT NULL,
  summary VARCHAR(2500) NOT NULL,
  timezone VARCHAR(100) NOT NULL,
  ADDRESS_addressid INT NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE PERSON_PERSON (
  Person_username VARCHAR(25) NOT NULL,
  friends_username VARCHAR(25) NOT NULL,
  is_accepted TINYINT NOT NULL,
  PRIMARY KEY (Person_username, friends_username)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE PERSON_SOCIALEVENT (
  username VARCHAR(25) NOT NULL,
  socialeventid INT NOT NULL,
  PRIMARY KEY (username, socialeventid)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE SOCIALEVENT (
  socialeventid INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  title VARCHAR(100) NOT NULL,
  description VARCHAR(500) NOT NULL,
  submitterUserName VARCHAR(25) NOT NULL,
  ADDRESS_addressid INT NOT NULL,
  totalscore INT NOT NULL,
  numberofvotes INT NOT NULL,
  imageurl VARCHAR(100) NOT NULL,
  imagethumburl VARCHAR(100) NOT NULL,
  literatureurl VARCHAR(100) NOT NULL,
  telephone VARCHAR(20) NOT NULL,
  timezone VARCHAR(100) NOT NULL,
  eventtimestamp VARCHAR(25) NOT NULL,
  createdtimestamp DATETIME NOT NULL,
  disabled INT NOT NULL,
  eventdate VARCHAR(10) NOT NULL,
  summary VARCHAR(100) NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE SOCIALEVENTTAG (
  socialeventtagid INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  tag VARCHAR(30) NOT NULL,
  refcount INT NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE SOCIALEVENTTAG_SOCIALEVENT (
  socialeventtagid INT NOT NULL,
  socialeventid INT NOT NULL,
  PRIMARY KEY (socialeventtagid, socialeventid)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE COMMENTS_RATING (
  commentid INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  username VARCHAR(25) NOT NULL,
  socialeventid INT NOT NULL,
  comments VARCHAR(2500) NOT NULL,
  ratings INT NOT NULL,
  created_at DATETIME NOT NULL,
  updated_at DATETIME NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
