-- The data set's day zero, and days counted from it. The application's calendar begins there at midnight whenever its
-- servers start, so that a data set is as fresh after a year as on the day it was made: see README.md.

local calendar = {}

-- app/lib/clock.php has the same.
calendar.day_zero = { year = 2008, month = 9, day = 1 }

local function length(year, month)
  if month == 2 then return (year % 4 == 0 and year % 100 ~= 0 or year % 400 == 0) and 29 or 28 end
  return (month == 4 or month == 6 or month == 9 or month == 11) and 30 or 31
end

-- Year, month and day of the month, a number of days after day zero (before it, when negative).
function calendar.after(days)
  local zero = calendar.day_zero
  local year, month, day = zero.year, zero.month, zero.day + days
  while day > length(year, month) do
    day = day - length(year, month)
    month = month + 1
    if month > 12 then year, month = year + 1, 1 end
  end
  while day < 1 do
    month = month - 1
    if month < 1 then year, month = year - 1, 12 end
    day = day + length(year, month)
  end
  return year, month, day
end

-- The same as 2008-09-01.
function calendar.text(days) return string.format("%04d-%02d-%02d", calendar.after(days)) end

return calendar
