-- The rows of the load set: accounts, each with one calendar. ETags and password hashes are the database's own work, in
-- finish.sql.

local accounts = require "accounts"
local ical = require "ical"
local population = require "population"

local ZERO_S <const> = accounts.zero * 86400
-- Numbers of objects, so that they can be made in any order: more than `events_most` can ask for.
local NUMBERS_EACH <const> = 4096

local function objects(n)
  local count = population.objects(n)
  for k = 1, count do
    local uid = population.uid(n, k)
    local drawn = ical.draw(accounts.zero)
    local text = ical.text(uid, drawn, ZERO_S, 0)
    local first, last = ical.occurrences(drawn)
    emit("calendarobjects", n * NUMBERS_EACH + k, text, uid .. ".ics", n, ZERO_S, "", #text,
      drawn.task and "VTODO" or "VEVENT", first, last)
  end
  return count
end

local function people(first, last)
  for n = first, last do
    local name = population.name(n)
    emit("users", n, name, "")
    emit("principals", n, "principals/" .. name, name .. "@example.org", "User " .. n, nil)
    local count = objects(n)
    emit("calendars", n, "principals/" .. name, "Calendar", "calendar", 1 + count, "What user " .. n .. " has to do", 0,
      "#3366CC", nil, "VEVENT,VTODO", 0)
    emit("tickets", accounts.ticket(n), n, ZERO_S, nil)
  end
end

return {
  tables = {
    users = { "id", "username", "password" },
    principals = { "id", "uri", "email", "displayname", "vcardurl" },
    calendars = {
      "id", "principaluri", "displayname", "uri", "ctag", "description", "calendarorder", "calendarcolor", "timezone",
      "components", "transparent",
    },
    calendarobjects = {
      "id", "calendardata", "uri", "calendarid", "lastmodified", "etag", "size", "componenttype", "firstoccurence",
      "lastoccurence",
    },
    tickets = { "ticket", "calendarid", "created", "expires" },
  },
  parts = {
    {
      name = "people",
      count = size.users,
      chunk = 20,
      rows = { users = 1, principals = 1, calendars = 1, tickets = 1, calendarobjects = 2 * param.events_median },
      make = people,
    },
  },
}
