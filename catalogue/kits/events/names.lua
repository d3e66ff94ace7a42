-- Names of users and tags: number k has the name `names.of(k)`, and no other number has it.
--
-- Of a hundred numbers in a row 5 have names of 6 characters, 8 of 7, 17 of 8, 25 of 9, 24 of 10 and 21 of 11. The first
-- character is a letter, the others are letters, digits and "_". Neighbours neither look alike nor sort together.

local FIRST = "abcdefghijklmnopqrstuvwxyz"
local OTHER = FIRST .. "0123456789_"
local SHARE = { [6] = 5, [7] = 8, [8] = 17, [9] = 25, [10] = 24, [11] = 21 }
-- Prime to 26 and 37, so that steps of this length visit every name before they return. The product with a number below
-- 2^31 stays below 2^63.
local STRIDE = 2654435761

-- For each of the hundred places: a length, and which one of that length it is. Steps of 37 mix the lengths.
local length_of, rank_of = {}, {}
do
  local place = 0
  for length = 6, 11 do
    for rank = 0, SHARE[length] - 1 do
      length_of[place], rank_of[place] = length, rank
      place = (place + 37) % 100
    end
  end
end

local function spelled(index, length)
  local room = 26
  for _ = 2, length do room = room * 37 end
  local rest = index * STRIDE % room
  local letter = (rest + 9 * length) % 26
  rest = rest // 26
  local name = { FIRST:sub(letter + 1, letter + 1) }
  -- Each character also depends on those before it, which can be undone from left to right: names stay distinct.
  local carried = (letter + 3 * length) % 37
  for position = 2, length do
    carried = (rest % 37 + 11 * carried + 5 * position) % 37
    rest = rest // 37
    name[position] = OTHER:sub(carried + 1, carried + 1)
  end
  return table.concat(name)
end

local names = {}

-- The name of a number from 1 on.
function names.of(number)
  local hundred, place = (number - 1) // 100, (number - 1) % 100
  local length = length_of[place]
  return spelled(hundred * SHARE[length] + rank_of[place], length)
end

return names
