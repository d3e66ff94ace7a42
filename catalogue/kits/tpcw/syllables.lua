-- DigSyl of the specification: a number's digits as syllables, with zeros before them up to a number of digits. Names of
-- customers are made of it, and what searches find.

local SYLLABLE = {
  ["0"] = "BA", ["1"] = "OG", ["2"] = "AL", ["3"] = "RI", ["4"] = "RE",
  ["5"] = "SE", ["6"] = "AT", ["7"] = "UL", ["8"] = "IN", ["9"] = "NG",
}

return function(number, digits)
  local text = string.format("%0" .. (digits or 1) .. "d", number)
  return (text:gsub("%d", SYLLABLE))
end
