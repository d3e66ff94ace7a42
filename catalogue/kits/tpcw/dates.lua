-- Days of the calendar, for sessions: they have a clock and no calendar, so today is the Date of an answer.

local MONTHS = { "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" }

local number_of = {}
for number, name in ipairs(MONTHS) do number_of[name] = number end

local function length(year, month)
  if month == 2 then return (year % 4 == 0 and year % 100 ~= 0 or year % 400 == 0) and 29 or 28 end
  return (month == 4 or month == 6 or month == 9 or month == 11) and 30 or 31
end

local dates = {}

-- A day as forms have it: 2027-01-31.
function dates.text(year, month, day) return string.format("%04d-%02d-%02d", year, month, day) end

-- The day a number of days after that of an HTTP date: Sat, 01 Sep 2007 00:00:10 GMT.
function dates.after(http_date, days)
  local day, name, year = (http_date or ""):match("(%d+) (%a+) (%d+)")
  local month = number_of[name] or fail "the answer has no Date"
  day, year = day + days, tonumber(year)
  while day > length(year, month) do
    day = day - length(year, month)
    month = month + 1
    if month > 12 then year, month = year + 1, 1 end
  end
  return dates.text(year, month, day)
end

return dates
