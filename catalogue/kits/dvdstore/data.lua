-- The rows of DVD Store 2.1, with its distributions: everything is uniform unless a comment says otherwise.

local words = require "words"

local states = {
  "AK", "AL", "AR", "AZ", "CA", "CO", "CT", "DC", "DE", "FL", "GA", "HI", "IA", "ID", "IL", "IN", "KS", "KY", "LA",
  "MA", "MD", "ME", "MI", "MN", "MO", "MS", "MT", "NC", "ND", "NE", "NH", "NJ", "NM", "NV", "NY", "OH", "OK", "OR",
  "PA", "RI", "SC", "SD", "TN", "TX", "UT", "VA", "VT", "WA", "WI", "WV", "WY",
}
local countries = {
  "Australia", "Canada", "Chile", "China", "France", "Germany", "Japan", "Russia", "South Africa", "UK",
}
local categories = {
  "Action", "Animation", "Children", "Classics", "Comedy", "Documentary", "Drama", "Family", "Foreign", "Games",
  "Horror", "Music", "New", "Sci-Fi", "Sports", "Travel",
}

-- The first half of the customers is American, the second is from elsewhere.
local function customers(first, last)
  local americans = size.customers // 2
  for id = first, last do
    local first_name, last_name, city, phone = letters(6), letters(10), letters(7), digits(10)
    local region, state, zip, country
    if id <= americans then
      region, state, zip, country = 1, pick(states), random(10000, 99999), "US"
    else
      region, state, zip, country = 2, "", 0, pick(countries)
    end
    local expiration = string.format("%d/%02d", random(2008, 2012), random(1, 12))
    emit("CUSTOMERS", id, first_name, last_name, phone .. " Dell Way", "", city, state, zip, country, region,
      last_name .. "@dell.com", phone, random(1, 5), digits(16), expiration, "user" .. id, "password",
      random(18, 90), 20000 * random(1, 5), chance(0.5) and "M" or "F")
  end
end

-- A month's orders have neighbouring numbers and days drawn from that month of 2009. What an order cost and what is
-- in it are unrelated, as in the original.
local function orders(first, last)
  for id = first, last do
    local month = (id - 1) // size.orders_per_month + 1
    local day = date(2009, month, random(1, days_in_month(2009, month)))
    local customer = random(1, size.customers)
    local net_cents = random(1, 40000)
    local tax_cents = (net_cents * 825 + 5000) // 10000
    emit("ORDERS", id, day, customer, net_cents / 100, tax_cents / 100, (net_cents + tax_cents) / 100)
    for line = 1, random(1, 9) do
      local product = random(1, size.products)
      emit("ORDERLINES", line, id, product, random(1, 3), day)
      emit("CUST_HIST", customer, id, product)
    end
  end
end

-- One product in a hundred is on special; with more than 100,000 products, one in ten thousand.
local function products(first, last)
  local one_special_in = size.products > 100000 and 10000 or 100
  for id = first, last do
    local index = id - 1
    local title = words.titles[index // 1000 % 1000 + 1] .. " " .. words.titles[index % 1000 + 1]
    local actor = pick(words.first_names) .. " " .. pick(words.last_names)
    local special = random(1, one_special_in) == 1 and 1 or 0
    emit("PRODUCTS", id, random(1, 16), title, actor, random(9, 29) + 0.99, special, random(1, size.products))
    -- Every 10,000th product sells well. How many were sold follows from the order lines, when they are there.
    local stock = random(0, 500)
    emit("INVENTORY", id, id % 10000 == 0 and stock * 10 or stock, 0)
  end
end

local function category_names(first, last)
  for id = first, last do emit("CATEGORIES", id, categories[id]) end
end

return {
  tables = {
    CATEGORIES = { "CATEGORY", "CATEGORYNAME" },
    CUSTOMERS = {
      "CUSTOMERID", "FIRSTNAME", "LASTNAME", "ADDRESS1", "ADDRESS2", "CITY", "STATE", "ZIP", "COUNTRY", "REGION",
      "EMAIL", "PHONE", "CREDITCARDTYPE", "CREDITCARD", "CREDITCARDEXPIRATION", "USERNAME", "PASSWORD", "AGE",
      "INCOME", "GENDER",
    },
    CUST_HIST = { "CUSTOMERID", "ORDERID", "PROD_ID" },
    INVENTORY = { "PROD_ID", "QUAN_IN_STOCK", "SALES" },
    ORDERLINES = { "ORDERLINEID", "ORDERID", "PROD_ID", "QUANTITY", "ORDERDATE" },
    ORDERS = { "ORDERID", "ORDERDATE", "CUSTOMERID", "NETAMOUNT", "TAX", "TOTALAMOUNT" },
    PRODUCTS = { "PROD_ID", "CATEGORY", "TITLE", "ACTOR", "PRICE", "SPECIAL", "COMMON_PROD_ID" },
  },
  parts = {
    { name = "categories", count = 16, chunk = 16, rows = { CATEGORIES = 1 }, make = category_names },
    { name = "products", count = size.products, chunk = 5000, rows = { PRODUCTS = 1, INVENTORY = 1 }, make = products },
    { name = "customers", count = size.customers, chunk = 5000, rows = { CUSTOMERS = 1 }, make = customers },
    {
      name = "orders",
      count = 12 * size.orders_per_month,
      chunk = 5000,
      rows = { ORDERS = 1, ORDERLINES = 5, CUST_HIST = 5 },
      make = orders,
    },
  },
}
