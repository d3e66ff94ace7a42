-- The load set as Radicale 3 keeps it: a folder for each account, in it one for its calendar, and in that a file for
-- each object.

local clock = require "clock"
local ical = require "ical"
local population = require "population"

local PROPS <const> = '{"C:calendar-description": "What user %d has to do", "C:supported-calendar-component-set": '
  .. '"VEVENT,VTODO", "D:displayname": "Calendar", "ICAL:calendar-color": "#3366ccff", "tag": "VCALENDAR"}'

local function people(first, last)
  for n = first, last do
    local folder = "collection-root/" .. population.name(n) .. "/calendar/"
    file(folder .. ".Radicale.props", { text = string.format(PROPS, n) })
    for k = 1, population.objects(n) do
      local uid = population.uid(n, k)
      file(folder .. uid .. ".ics", { text = ical.text(uid, ical.draw(clock.zero), clock.zero_s, 0) })
    end
  end
end

-- A line for each account, as Radicale reads it with plain passwords.
local function passwords()
  local lines = {}
  for n = 1, size.users do lines[n] = population.name(n) .. ":" .. population.name(n) end
  file("htpasswd", { text = table.concat(lines, "\n") .. "\n" })
end

return {
  parts = {
    { name = "passwords", count = 1, chunk = 1, make = passwords },
    { name = "people", count = size.users, chunk = 20, make = people },
  },
}
