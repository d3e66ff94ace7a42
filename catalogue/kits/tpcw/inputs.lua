-- What visitors write into forms, by the specification.

local choices = require "choices"
local countries = require "countries"
local dates = require "dates"
local text = require "text"

local SHIPS_ELSEWHERE = 0.05

local inputs = {}

-- A new customer.
function inputs.registration()
  return {
    RETURNING_FLAG = "N", FNAME = text.a(8, 15), LNAME = text.a(8, 15), STREET1 = text.a(15, 40),
    STREET2 = text.a(15, 40), CITY = text.a(10, 30), STATE = text.a(2, 20), ZIP = text.a(5, 10),
    COUNTRY = pick(countries)[1], PHONE = text.n(9, 16), EMAIL = text.a(8, 15) .. "@" .. text.a(2, 9) .. ".com",
    BIRTHDATE = dates.text(random(1880, 2000), random(1, 12), random(1, 28)), DATA = text.a(100, 500),
  }
end

-- A card, good for two years at most from `today`, which is the Date of an answer, and how to ship. One order in twenty
-- goes to an address that the customer has not had before.
function inputs.purchase(name, today)
  local fields = {
    CC_TYPE = pick(choices.card_types), CC_NUMBER = digits(16), CC_NAME = name,
    CC_EXPIRY = dates.after(today, random(1, 730)), SHIPPING = pick(choices.ship_types),
  }
  if chance(SHIPS_ELSEWHERE) then
    fields.STREET_1, fields.STREET_2, fields.CITY = text.a(15, 40), text.a(15, 40), text.a(4, 30)
    fields.STATE, fields.ZIP, fields.COUNTRY = text.a(2, 20), text.a(5, 10), pick(countries)[1]
  else
    fields.STREET_1 = ""
  end
  return fields
end

local function another(quantity)
  local new
  repeat new = random(0, 9) until new ~= quantity
  return new
end

-- New quantities for some lines of a cart, and what is in it then, by item: of several lines those may go that get 0.
function inputs.quantities(lines)
  local fields, wanted = { ADD_FLAG = "N" }, {}
  local left = #lines == 1 and 1 or random(1, #lines)
  for place, line in ipairs(lines) do
    local quantity = line.quantity
    -- Of the lines that are left, each is as likely to be one of those to change.
    if random(1, #lines - place + 1) <= left then
      left = left - 1
      quantity = #lines == 1 and random(1, 10) or another(quantity)
    end
    fields["I_ID_" .. place - 1], fields["QTY_" .. place - 1] = line.item, quantity
    if quantity > 0 then wanted[line.item] = quantity end
  end
  return fields, wanted
end

-- A new price and the pictures of another item.
function inputs.change(item, other)
  local folder = "img" .. other % 100
  return {
    I_ID = item, I_NEW_COST = string.format("%.2f", random(100, 999999) / 100),
    I_NEW_IMAGE = folder .. "/image_" .. other .. ".gif", I_NEW_THUMBNAIL = folder .. "/thumb_" .. other .. ".gif",
  }
end

return inputs
