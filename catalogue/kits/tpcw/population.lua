-- How many of everything there are, by the size's numbers; and the specification's uneven draws of one of them.

local syllables = require "syllables"

local SEARCH_DIGITS = 7

if size.items < 100 then error("a shop has at least 100 items") end

local customers = size.customers

-- The constant A of NURand: for customers by ranges, each of four times as many.
local function uneven_of_customers()
  local a, below = 1023, 10000
  while customers >= below do a, below = 4 * a + 3, 4 * below end
  return a
end

-- For items the specification has five numbers, each ten times the one before. Any other takes the nearest in ratio.
local function uneven_of_items()
  for _, step in ipairs { { 3163, 63 }, { 31623, 511 }, { 316228, 4095 }, { 3162278, 32767 } } do
    if size.items < step[1] then return step[2] end
  end
  return 524287
end

local population = {
  items = size.items,
  authors = size.authors,
  customers = customers,
  addresses = size.addresses,
  orders = size.orders,
  -- Names of authors hold the numbers from 0 to this, titles those up to the second.
  author_keys = size.items // 10,
  title_keys = size.items // 5,
}

local customer_a, item_a = uneven_of_customers(), uneven_of_items()

local function nurand(a, low, high) return (random(0, a) | random(low, high)) % (high - low + 1) + low end

-- A customer of the data set: some are drawn more often than others.
function population.somebody() return nurand(customer_a, 1, customers) end

-- What names of authors and titles hold, so that a search finds it.
function population.key(number) return syllables(number, SEARCH_DIGITS) end
function population.author_search() return population.key(nurand(item_a, 0, population.author_keys)) end
function population.title_search() return population.key(nurand(item_a, 0, population.title_keys)) end

-- A customer's name and password follow from its number.
function population.account(customer)
  local name = syllables(customer)
  return name, name:lower()
end

return population
