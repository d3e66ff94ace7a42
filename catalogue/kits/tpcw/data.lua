-- The rows of the bookstore, by the specification's population rules. Everything is uniform unless a comment says
-- otherwise. Money is reckoned in cents.

local choices = require "choices"
local countries = require "countries"
local days = require "days"
local population = require "population"
local text = require "text"

local TAX_PERMYRIAD = 825
local SHIPPING_CENTS, SHIPPING_EACH_CENTS = 300, 100

local NOON, TWO_HOURS_LATER = days.text(days.today) .. " 12:00:00", days.text(days.today) .. " 14:00:00"

local function any_address() return random(1, population.addresses) end
local function any_country() return random(1, #countries) end
local function any_item() return random(1, population.items) end

local function country_rows(first, last)
  for id = first, last do emit("COUNTRY", id, countries[id][1], countries[id][2], countries[id][3]) end
end

local function addresses(first, last)
  for id = first, last do
    emit("ADDRESS", id, text.a(15, 40), text.a(15, 40), text.a(4, 30), text.a(2, 20), text.a(5, 10), any_country())
  end
end

local function customers(first, last)
  for id = first, last do
    local name, password = population.account(id)
    local since = days.today - random(1, 730)
    local last_login = math.min(since + random(0, 60), days.today)
    emit("CUSTOMER", id, name, password, text.a(8, 15), text.a(8, 15), any_address(), text.n(9, 16),
      name .. "@" .. text.a(2, 9) .. ".com", days.text(since), days.text(last_login), NOON, TWO_HOURS_LATER,
      random(0, 50) / 100, 0, random(0, 99999) / 100, days.text(days.between(1880, 2000)), text.a(100, 500))
  end
end

-- The last name begins with what searches look for: with the key of two or three authors.
local function authors(first, last)
  for id = first, last do
    local key = population.key(id % (population.author_keys + 1))
    emit("AUTHOR", id, text.a(3, 20), key .. text.a(0, 6), text.a(1, 20), days.text(days.between(1800, 1990)),
      text.a(125, 500))
  end
end

-- Five different items.
local function related_items()
  local list, seen = {}, {}
  while #list < 5 do
    local item = any_item()
    if not seen[item] then
      seen[item] = true
      list[#list + 1] = item
    end
  end
  return table.unpack(list)
end

-- Hundredths of something from 0.01 to 99.99.
local function measure() return random(1, 9999) / 100 end

-- The first items have an author each, so that every author has one. The title begins with what searches look for.
local function items(first, last)
  for id = first, last do
    local author = id <= population.authors and id or random(1, population.authors)
    local title = population.key(id % (population.title_keys + 1)) .. text.a(0, 46)
    local published = days.between(1930, 2000)
    local list_cents = random(100, 99999)
    local cost_cents = (list_cents * (100 - random(0, 50)) + 50) // 100
    local one, two, three, four, five = related_items()
    local folder = "img" .. id % 100
    emit("ITEM", id, title, author, days.text(published), text.a(14, 60), pick(choices.subjects), text.a(100, 500),
      one, two, three, four, five, folder .. "/thumb_" .. id .. ".gif", folder .. "/image_" .. id .. ".gif",
      list_cents / 100, cost_cents / 100, days.text(published + random(1, 30)), random(10, 30), text.a(13, 13),
      random(20, 9999), pick(choices.backings),
      string.format("%.2fx%.2fx%.2f", measure(), measure(), measure()))
  end
end

-- An order with its lines and its payment. As in the original, what is in it and what it cost are unrelated.
local function orders(first, last)
  for id = first, last do
    local lines = random(1, 5)
    local sub_cents = random(1000, 999999)
    local tax_cents = (sub_cents * TAX_PERMYRIAD + 5000) // 10000
    local total = (sub_cents + tax_cents + SHIPPING_CENTS + SHIPPING_EACH_CENTS * lines) / 100
    local ordered = days.today - random(1, 60)
    local shipped = days.text(ordered + random(0, 7))
    emit("ORDERS", id, random(1, population.customers), days.moment(ordered), sub_cents / 100, tax_cents / 100, total,
      pick(choices.ship_types), shipped, any_address(), any_address(), pick(choices.statuses))
    emit("CC_XACTS", id, pick(choices.card_types), digits(16), text.a(14, 30),
      days.text(days.today + random(10, 730)), text.a(15, 15), total, shipped, any_country())
    for line = 1, lines do
      emit("ORDER_LINE", id, line, any_item(), random(1, 300), random(0, 30) / 100, text.a(20, 100))
    end
  end
end

return {
  tables = {
    ADDRESS = { "addr_id", "addr_street1", "addr_street2", "addr_city", "addr_state", "addr_zip", "addr_co_id" },
    AUTHOR = { "a_id", "a_fname", "a_lname", "a_mname", "a_dob", "a_bio" },
    CC_XACTS = {
      "cx_o_id", "cx_type", "cx_num", "cx_name", "cx_expire", "cx_auth_id", "cx_xact_amt", "cx_xact_date", "cx_co_id",
    },
    COUNTRY = { "co_id", "co_name", "co_exchange", "co_currency" },
    CUSTOMER = {
      "c_id", "c_uname", "c_passwd", "c_fname", "c_lname", "c_addr_id", "c_phone", "c_email", "c_since",
      "c_last_login", "c_login", "c_expiration", "c_discount", "c_balance", "c_ytd_pmt", "c_birthdate", "c_data",
    },
    ITEM = {
      "i_id", "i_title", "i_a_id", "i_pub_date", "i_publisher", "i_subject", "i_desc", "i_related1", "i_related2",
      "i_related3", "i_related4", "i_related5", "i_thumbnail", "i_image", "i_srp", "i_cost", "i_avail", "i_stock",
      "i_isbn", "i_page", "i_backing", "i_dimensions",
    },
    ORDERS = {
      "o_id", "o_c_id", "o_date", "o_sub_total", "o_tax", "o_total", "o_ship_type", "o_ship_date", "o_bill_addr_id",
      "o_ship_addr_id", "o_status",
    },
    ORDER_LINE = { "ol_o_id", "ol_id", "ol_i_id", "ol_qty", "ol_discount", "ol_comments" },
  },
  parts = {
    { name = "countries", count = #countries, chunk = #countries, rows = { COUNTRY = 1 }, make = country_rows },
    { name = "authors", count = population.authors, chunk = 1000, rows = { AUTHOR = 1 }, make = authors },
    { name = "items", count = population.items, chunk = 1000, rows = { ITEM = 1 }, make = items },
    { name = "addresses", count = population.addresses, chunk = 4000, rows = { ADDRESS = 1 }, make = addresses },
    { name = "customers", count = population.customers, chunk = 2000, rows = { CUSTOMER = 1 }, make = customers },
    {
      name = "orders",
      count = population.orders,
      chunk = 2000,
      rows = { ORDERS = 1, CC_XACTS = 1, ORDER_LINE = 3 },
      make = orders,
    },
  },
}
