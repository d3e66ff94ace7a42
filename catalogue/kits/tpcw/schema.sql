-- The bookstore's tables. Secondary indexes and foreign keys are made in finish.sql, after the rows. Texts compare as
-- they are written, so that a search finds just what it asks for.

CREATE TABLE COUNTRY (
  co_id INT NOT NULL PRIMARY KEY,
  co_name VARCHAR(50) NOT NULL,
  co_exchange DECIMAL(12, 6) NOT NULL,
  co_currency VARCHAR(18) NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE ADDRESS (
  addr_id INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  addr_street1 VARCHAR(40) NOT NULL,
  addr_street2 VARCHAR(40) NOT NULL,
  addr_city VARCHAR(30) NOT NULL,
  addr_state VARCHAR(20) NOT NULL,
  addr_zip VARCHAR(10) NOT NULL,
  addr_co_id INT NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- A new customer's name follows from its number, so that it comes after the row: until then it is NULL.
CREATE TABLE CUSTOMER (
  c_id INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  c_uname VARCHAR(20),
  c_passwd VARCHAR(20),
  c_fname VARCHAR(17) NOT NULL,
  c_lname VARCHAR(17) NOT NULL,
  c_addr_id INT NOT NULL,
  c_phone VARCHAR(18) NOT NULL,
  c_email VARCHAR(50) NOT NULL,
  c_since DATE NOT NULL,
  c_last_login DATE NOT NULL,
  c_login DATETIME NOT NULL,
  c_expiration DATETIME NOT NULL,
  c_discount DECIMAL(3, 2) NOT NULL,
  c_balance DECIMAL(15, 2) NOT NULL,
  c_ytd_pmt DECIMAL(15, 2) NOT NULL,
  c_birthdate DATE NOT NULL,
  c_data VARCHAR(500) NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE AUTHOR (
  a_id INT NOT NULL PRIMARY KEY,
  a_fname VARCHAR(20) NOT NULL,
  a_lname VARCHAR(20) NOT NULL,
  a_mname VARCHAR(20) NOT NULL,
  a_dob DATE NOT NULL,
  a_bio VARCHAR(500) NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE ITEM (
  i_id INT NOT NULL PRIMARY KEY,
  i_title VARCHAR(60) NOT NULL,
  i_a_id INT NOT NULL,
  i_pub_date DATE NOT NULL,
  i_publisher VARCHAR(60) NOT NULL,
  i_subject VARCHAR(60) NOT NULL,
  i_desc VARCHAR(500) NOT NULL,
  i_related1 INT NOT NULL,
  i_related2 INT NOT NULL,
  i_related3 INT NOT NULL,
  i_related4 INT NOT NULL,
  i_related5 INT NOT NULL,
  i_thumbnail VARCHAR(40) NOT NULL,
  i_image VARCHAR(40) NOT NULL,
  i_srp DECIMAL(15, 2) NOT NULL,
  i_cost DECIMAL(15, 2) NOT NULL,
  i_avail DATE NOT NULL,
  i_stock INT NOT NULL,
  i_isbn CHAR(13) NOT NULL,
  i_page INT NOT NULL,
  i_backing VARCHAR(15) NOT NULL,
  i_dimensions VARCHAR(25) NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE ORDERS (
  o_id INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  o_c_id INT NOT NULL,
  o_date DATETIME NOT NULL,
  o_sub_total DECIMAL(15, 2) NOT NULL,
  o_tax DECIMAL(15, 2) NOT NULL,
  o_total DECIMAL(15, 2) NOT NULL,
  o_ship_type VARCHAR(10) NOT NULL,
  o_ship_date DATE NOT NULL,
  o_bill_addr_id INT NOT NULL,
  o_ship_addr_id INT NOT NULL,
  o_status VARCHAR(15) NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- An order's lines lie together: its own key is the index by order that the specification asks for.
CREATE TABLE ORDER_LINE (
  ol_id INT NOT NULL,
  ol_o_id INT NOT NULL,
  ol_i_id INT NOT NULL,
  ol_qty INT NOT NULL,
  ol_discount DECIMAL(3, 2) NOT NULL,
  ol_comments VARCHAR(110) NOT NULL,
  PRIMARY KEY (ol_o_id, ol_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE CC_XACTS (
  cx_o_id INT NOT NULL PRIMARY KEY,
  cx_type VARCHAR(10) NOT NULL,
  cx_num VARCHAR(20) NOT NULL,
  cx_name VARCHAR(31) NOT NULL,
  cx_expire DATE NOT NULL,
  cx_auth_id CHAR(15) NOT NULL,
  cx_xact_amt DECIMAL(15, 2) NOT NULL,
  cx_xact_date DATE NOT NULL,
  cx_co_id INT NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE SHOPPING_CART (
  sc_id INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  sc_time DATETIME NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE SHOPPING_CART_LINE (
  scl_sc_id INT NOT NULL,
  scl_i_id INT NOT NULL,
  scl_qty INT NOT NULL,
  PRIMARY KEY (scl_sc_id, scl_i_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
