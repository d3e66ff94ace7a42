-- DVD Store 2.1's order cycle: log in or register, browse a few times, buy. There is no pause inside a cycle.

local words = require "words"

local states = {
  "AK", "AL", "AR", "AZ", "CA", "CO", "CT", "DC", "DE", "FL", "GA", "HI", "IA", "ID", "IL", "IN", "KS", "KY", "LA",
  "MA", "MD", "ME", "MI", "MN", "MO", "MS", "MT", "NC", "ND", "NE", "NH", "NJ", "NM", "NV", "NY", "OH", "OK", "OR",
  "PA", "RI", "SC", "SD", "TN", "TX", "UT", "VA", "VT", "WA", "WI", "WV",
}
local countries = {
  "Australia", "Canada", "Chile", "China", "France", "Germany", "Japan", "Russia", "South Africa", "UK",
}

-- Uniform from 1 to 2n - 1, so that the mean is n.
local function around(n) return random(1, 2 * n - 1) end

local function customer_id(page)
  return page:between("NAME=customerid VALUE=", ">") or fail("there is no customer id in the page")
end

local function login()
  operation "Login"
  local name = "user" .. random(1, size.customers)
  return customer_id(get("/ds2/dslogin.php", { { "username", name }, { "password", "password" } }))
end

-- The name is always free, or, as in 2.1, one of as many as there are loaded customers.
local function new_name()
  if param.new_customer_names == "unique" then return "newuser" .. unique() end
  return "newuser" .. random(1, size.customers)
end

-- Half of the new customers are American.
local function new_customer()
  local first_name, last_name, phone = letters(6), letters(10), digits(10)
  local state, zip, country = "", "", nil
  if chance(0.5) then
    state, zip, country = pick(states), random(0, 99999), "US"
  else
    country = pick(countries)
  end
  return {
    { "firstname", first_name },
    { "lastname", last_name },
    { "address1", phone .. " Dell Way" },
    { "address2", "" },
    { "city", letters(7) },
    { "state", state },
    { "zip", zip },
    { "country", country },
    { "email", last_name .. "@dell.com" },
    { "phone", phone },
    { "creditcardtype", random(1, 5) },
    { "creditcard", digits(16) },
    { "ccexpmon", random(1, 12) },
    { "ccexpyr", random(2008, 2012) },
    { "username", new_name() },
    { "password", "password" },
    { "age", random(18, 99) },
    { "income", 20000 * random(1, 5) },
    { "gender", chance(0.5) and "M" or "F" },
  }
end

-- Only the last attempt's time counts.
local function register()
  for _ = 1, 100 do
    operation "NewCustomer"
    local page = get("/ds2/dsnewcustomer.php", new_customer())
    if not page:has("Username already in use") then return customer_id(page) end
    abandon()
  end
  operation "NewCustomer"
  fail("no free user name in 100 tries")
end

local kinds = { "category", "actor", "title" }

local function browse(customer)
  operation "Browse"
  local limit = around(param.search_batch_size)
  local kind = pick(kinds)
  local title, actor, category = "", "", ""
  if kind == "category" then
    category = random(1, 16)
  elseif kind == "actor" then
    actor = pick(words.first_names) .. " " .. pick(words.last_names)
  else
    title = pick(words.titles) .. " " .. pick(words.titles)
  end
  local page = get("/ds2/dsbrowse.php", {
    { "browsetype", kind },
    { "browse_title", title },
    { "browse_actor", actor },
    { "browse_category", category },
    { "limit_num", limit },
    { "customerid", customer },
  })
  local found = page:count("NAME=selected_item[] TYPE=CHECKBOX")
  if found == 0 then
    check(page:has("No DVDs Found"), "a page without results says so")
  else
    check(found <= limit, "a search gives at most as many results as asked for")
  end
end

-- Each product once, and every 10,000th ten times: the ones that sell well.
local function draw_product()
  local hot = size.products // 10000
  local number = random(1, size.products + 9 * hot)
  if number <= size.products then return number end
  return ((number - size.products - 1) // 9 + 1) * 10000
end

local function purchase(customer)
  operation "Purchase"
  local items, quantities = {}, {}
  for line = 1, around(param.n_line_items) do
    items[line], quantities[line] = draw_product(), random(1, 3)
  end
  local page = get("/ds2/dspurchase.php", {
    { "confirmpurchase", "yes" },
    { "customerid", customer },
    { "item[]", items },
    { "quan[]", quantities },
  })
  if page:has("Insufficient stock") then
    count "rollbacks"
    count("rolled_back_lines", #items)
  elseif page:match("ORDER NUMBER: +([0-9]+)") then
    count "orders"
    count("ordered_lines", #items)
  else
    check(false, "a purchase gives an order number or says that stock is insufficient")
  end
end

function order_cycle(user)
  if not user.connected then
    -- A new user fetches the front page once; that is no part of a cycle.
    operation "Connect"
    get("/ds2/index.html")
    abandon()
    user.connected = true
  end
  local customer = chance(param.pct_newcustomers / 100) and register() or login()
  for _ = 1, around(param.n_searches) do browse(customer) end
  purchase(customer)
end
