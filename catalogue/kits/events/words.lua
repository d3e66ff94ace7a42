-- Texts of random letters in the forms that the data set and the sessions share.

local words = {}

-- A capital letter and small ones, between `least` and `most` in all.
function words.name(least, most)
  local text = letters(random(least, most))
  return text:sub(1, 1) .. text:sub(2):lower()
end

-- So many small letters: the helpers draw 64 at a time.
local function small_letters(count)
  local parts = {}
  while count > 64 do
    parts[#parts + 1] = letters(64)
    count = count - 64
  end
  parts[#parts + 1] = letters(count)
  return table.concat(parts):lower()
end

-- Words of 1 to 12 letters with blanks between them, between `least` and `most` characters in all.
function words.text(least, most)
  local total = random(least, most)
  local raw, parts, at = small_letters(total), {}, 1
  while at <= total do
    local stop = math.min(at + random(1, 12) - 1, total)
    -- No blank at the end: a word takes what one too many would leave.
    if total - stop == 1 then stop = total end
    parts[#parts + 1] = raw:sub(at, stop)
    at = stop + 2
  end
  return table.concat(parts, " ")
end

-- An American number, or one from elsewhere.
function words.telephone()
  if chance(0.5) then return string.format("+1 %s %s %s", digits(3), digits(3), digits(4)) end
  return string.format("+%s %s %s %s", digits(2), digits(2), digits(3), digits(4))
end

-- A list of `count` numbers that `draw` gave, all different.
function words.different(count, draw)
  local list, seen = {}, {}
  while #list < count do
    local number = draw()
    if not seen[number] then
      seen[number] = true
      list[#list + 1] = number
    end
  end
  return list
end

-- A tag's number: the first is the most popular, the mean is a tenth of all.
function words.tag(tags)
  local number
  repeat number = 1 + math.floor(exponential(0.1 * tags)) until number < tags
  return number
end

local streets = { " Blvd", " Ave", " St", " Ln", "" }

-- Street, second line or nil, city, state, zip and country.
function words.address()
  local street = digits(random(1, 5)) .. " " .. words.name(1, 11) .. pick(streets)
  local second = chance(0.5) and letters(random(5, 20)) or nil
  local country = chance(0.5) and "USA" or words.name(6, 16)
  return street, second, letters(random(4, 14)), letters(2), digits(5), country
end

-- Capital letters, between `least` and `most` of them.
function words.letters(least, most) return small_letters(random(least, most)):upper() end

return words
