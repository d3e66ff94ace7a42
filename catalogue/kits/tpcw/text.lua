-- Random texts of the specification: an "a-string" is of letters, signs and blanks, 79 of them, without a digit.

local SIGNS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ!@#$%^&*()_-=+{}[]|:;,.?/~ "
local POOL_BYTES = 65536

-- Texts are cut out of one long random text: two draws each, whatever their length.
local function pool()
  local parts = {}
  for place = 1, POOL_BYTES do
    local sign = random(1, #SIGNS)
    parts[place] = SIGNS:sub(sign, sign)
  end
  return table.concat(parts)
end

local POOL = pool()

local text = {}

-- Between `least` and `most` signs.
function text.a(least, most)
  local length = random(least, most)
  local first = random(1, POOL_BYTES - length + 1)
  return POOL:sub(first, first + length - 1)
end

-- Between `least` and `most` digits.
function text.n(least, most) return digits(random(least, most)) end

return text
