-- What a visitor's browser does at the shop: it asks for a page with what its links carry, and looks whether it is the
-- page. A visit lasts until the visitor goes Home after its time is over: then it is another visitor who comes there.
-- TPC-W calls that time the user session minimum duration.

local population = require "population"

local RETURNING = 0.8
local VISIT_MEAN_S, MAX_VISIT_S = 900, 3600

local shop = {}

-- Somebody whom the server does not know yet; four of five are customers.
function shop.arrive(user)
  forget()
  user.visit = {
    began_s = elapsed(),
    lasts_s = math.min(exponential(VISIT_MEAN_S), MAX_VISIT_S),
    customer = chance(RETURNING) and population.somebody() or nil,
  }
  return user.visit
end

function shop.is_over(visit) return elapsed() - visit.began_s >= visit.lasts_s end

-- The session's number stands in the address, as in every link of the page before.
local function address(visit, interaction)
  local path = "/tpcw/" .. interaction
  return visit.session and path .. ";jsessionid=" .. visit.session or path
end

local function with_numbers(visit, fields)
  fields.SHOPPING_ID, fields.C_ID = visit.cart, visit.customer
  return fields
end

local function look(visit, page, title)
  check(page:has("<title>TPC-W: " .. title .. "</title>"), "a page titled " .. title)
  -- By each page anew: a server that was started again gives another one.
  visit.session = page:match(';jsessionid=([^?"]+)') or visit.session
  return page
end

-- A page by a link. What the last page showed is gone from here on.
function shop.open(visit, interaction, fields, title)
  visit.shows = nil
  return look(visit, get(address(visit, interaction), with_numbers(visit, fields), { name = interaction }), title)
end

-- A page by a form.
function shop.send(visit, interaction, fields, title)
  visit.shows = nil
  return look(visit, post(address(visit, interaction), with_numbers(visit, fields), { name = interaction }), title)
end

-- The numbers of all items that the page has a link to, each as often as it has one.
function shop.links(page)
  local list = {}
  for _, rest in ipairs(page:all("?I_ID=", '"')) do list[#list + 1] = tonumber(rest:match("^%d+")) end
  return list
end

-- How many rows there are in the page's table of books or of order lines.
function shop.rows(page) return page:count "<tr><td>" end

local function cents(amount) return amount and tonumber((amount:gsub("%.", ""))) end

-- An amount of the page, in cents; nil when it is not there.
function shop.amount(page, mark) return cents(page:between('id="' .. mark .. '">$', "<")) end

-- The total is the sum of its parts, and the tax is 8.25 % to the cent.
function shop.check_totals(page)
  local sub, tax, total = shop.amount(page, "subtotal"), shop.amount(page, "tax"), shop.amount(page, "total")
  local shipping = shop.amount(page, "shipping")
  local right = sub and tax and shipping and total and total == sub + tax + shipping
    and tax == (sub * 825 + 5000) // 10000
  check(right, "a total that is the sum of sub-total, tax and shipping")
end

-- The lines of the cart that the page shows, each with its item, its quantity and its price in cents; and the cart's
-- number.
function shop.cart(page)
  local form = page:form() or fail "no cart in the page"
  local prices, lines = page:all("<td>$", "</td>"), {}
  for line = 0, #prices // 2 - 1 do
    local item, quantity = tonumber(form.fields["I_ID_" .. line]), tonumber(form.fields["QTY_" .. line])
    if not (item and quantity) then fail "a line of the cart has no item or no quantity" end
    -- The list price stands before the shop's own.
    lines[#lines + 1] = { item = item, quantity = quantity, cents = cents(prices[2 * line + 2]) }
  end
  return lines, tonumber(form.fields.SHOPPING_ID)
end

-- What the lines cost together is what the page says.
function shop.check_subtotal(page, lines)
  local sum = 0
  for _, line in ipairs(lines) do sum = sum + line.quantity * line.cents end
  check(sum == shop.amount(page, "subtotal"), "a sub-total that is the sum of the lines")
end

return shop
