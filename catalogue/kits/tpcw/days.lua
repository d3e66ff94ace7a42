-- The calendar of the data set: every day as a text, in order. Days are told by their number, so that they can be added
-- to. The data set's today is always the same one, so that its rows are: see README.md.

local FIRST_YEAR, LAST_YEAR = 1800, 2010

local texts, first_of = {}, {}
for year = FIRST_YEAR, LAST_YEAR do
  first_of[year] = #texts + 1
  for month = 1, 12 do
    for day = 1, days_in_month(year, month) do texts[#texts + 1] = date(year, month, day) end
  end
end

local days = {}

-- 1 February 2008.
days.today = first_of[2008] + 31

function days.text(number) return texts[number] end

-- A day from the first one of a year to the last one of another.
function days.between(first_year, last_year) return random(first_of[first_year], first_of[last_year + 1] - 1) end

-- A moment of a day, at a full minute.
function days.moment(number) return string.format("%s %02d:%02d:00", texts[number], random(0, 23), random(0, 59)) end

return days
