-- Calendar objects as iCalendar (RFC 5545): one event or task each, with the distributions of the load set. The kit
-- `caldav` borrows this file.
--
-- Times are seconds since 1970, in UTC; days are counted from there.

local ical = {}

local DAY_S <const> = 86400
-- The longest line, in bytes, without its end.
local LONGEST <const> = 75
-- Where sabre/dav has the end of what has none: 1 January 2038.
local WITHOUT_END_S <const> = 2145916800

-- Days since 1970 of a date of the Gregorian calendar. Years begin in March here, so that a leap day is a year's last.
function ical.day(year, month, day)
  local y = month <= 2 and year - 1 or year
  local of_era = y % 400
  local of_year = (153 * (month + (month > 2 and -3 or 9)) + 2) // 5 + day - 1
  return y // 400 * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468
end

-- The date of a day since 1970.
function ical.date(days)
  local z = days + 719468
  local of_era = z % 146097
  local year = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
  local of_year = of_era - (365 * year + year // 4 - year // 100)
  local month = (5 * of_year + 2) // 153
  local day = of_year - (153 * month + 2) // 5 + 1
  month = month < 10 and month + 3 or month - 9
  return z // 146097 * 400 + year + (month <= 2 and 1 or 0), month, day
end

-- 0 is Monday. The first of January 1970 was a Thursday.
function ical.weekday(days) return (days + 3) % 7 end

-- 20061011
function ical.date_text(days) return string.format("%04d%02d%02d", ical.date(days)) end

-- 20061011T173244Z
function ical.stamp(seconds)
  local of_day = seconds % DAY_S
  local text = ical.date_text(seconds // DAY_S)
  return string.format("%sT%02d%02d%02dZ", text, of_day // 3600, of_day // 60 % 60, of_day % 60)
end

-- Longer lines go on in the next one, behind a blank.
local function folded(line)
  if #line <= LONGEST then return line end
  local parts, at = { line:sub(1, LONGEST) }, LONGEST + 1
  while at <= #line do
    parts[#parts + 1] = line:sub(at, at + LONGEST - 2)
    at = at + LONGEST - 1
  end
  return table.concat(parts, "\r\n ")
end

-- Words of small letters with a comma here and there, escaped as texts are: between `least` and `most` characters as
-- people read them.
local function words(least, most)
  local left, parts = random(least, most), {}
  while left > 0 do
    local length = math.min(left, random(3, 9))
    local word = letters(length):lower()
    left = left - length
    if left > 2 then
      local comma = chance(0.1)
      parts[#parts + 1] = word .. (comma and "\\, " or " ")
      left = left - (comma and 2 or 1)
    else
      parts[#parts + 1] = word
    end
  end
  return table.concat(parts)
end

-- A moment within a year of `zero` (a day), on a quarter of an hour: 70 % Monday to Friday between 8 and 18 o'clock.
local function moment(zero)
  local at_work = chance(0.7)
  while true do
    local day, quarter = zero + random(-365, 365), random(0, 95)
    if at_work then quarter = random(32, 71) end
    local works = ical.weekday(day) < 5 and quarter >= 32 and quarter <= 71
    if works == at_work then return day * DAY_S + quarter * 900 end
  end
end

-- What an object is, drawn: 10 % tasks; of events 2 % take a day, 5 % come again every week, 3 % have an alarm.
function ical.draw(zero)
  local drawn = {
    start = moment(zero),
    minutes = 30 * random(1, 3),
    summary = words(20, 60),
    description = chance(0.5) and words(50, 200) or nil,
  }
  drawn.task = chance(0.1)
  if not drawn.task then
    drawn.all_day = chance(0.02)
    drawn.weekly = chance(0.05)
    drawn.alarm = chance(0.03)
  end
  return drawn
end

local function event(lines, drawn)
  if drawn.all_day then
    local day = drawn.start // DAY_S
    lines[#lines + 1] = "DTSTART;VALUE=DATE:" .. ical.date_text(day)
    lines[#lines + 1] = "DTEND;VALUE=DATE:" .. ical.date_text(day + 1)
  else
    lines[#lines + 1] = "DTSTART:" .. ical.stamp(drawn.start)
    lines[#lines + 1] = "DTEND:" .. ical.stamp(drawn.start + 60 * drawn.minutes)
  end
  if drawn.weekly then lines[#lines + 1] = "RRULE:FREQ=WEEKLY" end
  lines[#lines + 1] = "STATUS:CONFIRMED"
  lines[#lines + 1] = drawn.all_day and "TRANSP:TRANSPARENT" or "TRANSP:OPAQUE"
end

local ALARM <const> = { "BEGIN:VALARM", "ACTION:DISPLAY", "DESCRIPTION:Reminder", "TRIGGER:-PT15M", "END:VALARM" }

-- The object as text. `changed` is when it was last changed, `sequence` how often.
function ical.text(uid, drawn, changed, sequence)
  local component = drawn.task and "VTODO" or "VEVENT"
  local stamp = ical.stamp(changed)
  local lines = {
    "BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Plimsoll//Calendar users//EN", "CALSCALE:GREGORIAN",
    "BEGIN:" .. component, "UID:" .. uid, "DTSTAMP:" .. stamp, "CREATED:" .. stamp, "LAST-MODIFIED:" .. stamp,
    "SEQUENCE:" .. sequence, "CLASS:PUBLIC", "SUMMARY:" .. drawn.summary,
  }
  if drawn.description then lines[#lines + 1] = "DESCRIPTION:" .. drawn.description end
  if drawn.task then
    lines[#lines + 1] = "DUE:" .. ical.stamp(drawn.start)
    lines[#lines + 1] = "STATUS:NEEDS-ACTION"
  else
    event(lines, drawn)
  end
  if drawn.alarm then table.move(ALARM, 1, #ALARM, #lines + 1, lines) end
  lines[#lines + 1] = "END:" .. component
  lines[#lines + 1] = "END:VCALENDAR"
  for number, line in ipairs(lines) do lines[number] = folded(line) end
  return table.concat(lines, "\r\n") .. "\r\n"
end

-- When an event is first and last there, as sabre/dav keeps it; nothing for a task.
function ical.occurrences(drawn)
  if drawn.task then return nil, nil end
  local first = drawn.all_day and drawn.start // DAY_S * DAY_S or drawn.start
  if drawn.weekly then return first, WITHOUT_END_S end
  return first, drawn.all_day and first + DAY_S or first + 60 * drawn.minutes
end

return ical
