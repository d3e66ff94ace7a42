-- What must hold on the server after a run, asked of it as any calendar program asks, so that it can be any server: the
-- last word on each object, noted when its answer had come. What was never answered may have been done or not, and is
-- not told; a server may still be at it while it is asked.

local promises = require "promises"
local webdav = require "webdav"

-- Objects that are asked for at once.
local BATCH <const> = 50
-- Each object that was confirmed is asked for. What makes a server look through whole calendars is asked of a limited number of
-- them, and one by one a limited number of objects that are gone: evenly of all.
local MAX_CALENDARS <const> = 100
local MAX_GONE <const> = 100
-- So often two lists are asked for that differ because something changes in between.
local TRIES <const> = 5

local function in_order(by_key)
  local keys = {}
  for key in pairs(by_key) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

-- So many of a list, evenly.
local function evenly(list, most)
  local some, step = {}, math.max(#list / most, 1)
  for number = 1, math.min(#list, most) do some[number] = list[math.floor((number - 1) * step) + 1] end
  return some
end

-- A statement in the making: how many are right of how many, and the first that is not.
local function statement(name) return { name = name, right = 0, all = 0 } end

local function note(of, right, what)
  of.all = of.all + 1
  if right then of.right = of.right + 1 else of.first = of.first or what end
end

local function say(of)
  local name = of.first and of.name .. " (not " .. of.first .. ")" or of.name
  expect(name, of.right, of.all)
end

-- The paths of objects with their tags; false for what is gone.
local function states(page)
  local found = {}
  for _, row in ipairs(page:xml("response", { "href", "getetag" })) do
    local path = webdav.path(row.href)
    if webdav.uid(path) then found[path] = webdav.filled(row.getetag) or false end
  end
  return found
end

-- All objects of a calendar; none where there is no calendar.
local function listed(place)
  local page = webdav.ask("PROPFIND", place, 1, webdav.list, { 207, 404, 410 })
  return page.status == 207 and states(page) or {}
end

-- What has changed since a token was given; nothing where the server does not take it.
local function changes(place, token)
  local page = webdav.ask("REPORT", place, 0, webdav.changes(token), { 207, 403, 404, 409, 412 })
  return page.status == 207 and states(page) or nil
end

-- Some objects, each with its tag and its text as far as it has them.
local function objects(place, paths)
  local found = {}
  local page = webdav.ask("REPORT", place, 1, webdav.objects(paths), { 207, 404, 410 })
  if page.status ~= 207 then return found end
  for _, row in ipairs(page:xml("response", { "href", "getetag", "calendar-data" })) do
    local tag, text = webdav.filled(row.getetag), webdav.filled(row["calendar-data"])
    found[webdav.path(row.href)] = { tag = tag, text = text }
  end
  return found
end

local there = statement "objects that were confirmed have the tag that was told"
local whole = statement "objects that were confirmed are read whole"
local gone = statement "deleted objects are there no more"
local unreadable = statement "deleted objects can't be read"
local shown = statement "lists show what was told"
local taken = statement "tokens that the server gave are taken"
local since = statement "the last token leads to what was told since"
local anew = statement "an empty token gives what a list shows"

local calendars = promises.by_calendar(told)

local function log_in(place)
  local user = calendars[place].user or error("nobody has told whose the calendar " .. place .. " is")
  auth(user, user)
end

local function is_object(text, uid)
  return text and text:find("^BEGIN:VCALENDAR") and text:find("END:VCALENDAR%s*$")
    and text:find("UID:" .. uid, 1, true)
end

-- Each object for itself.
local function hold_to_it(place, paths)
  local found = objects(place, paths)
  for _, path in ipairs(paths) do
    local tag, now = calendars[place].objects[path].tag, found[path] or {}
    if tag then
      note(there, now.tag == tag, path)
      note(whole, is_object(now.text, webdav.uid(path)), path)
    else
      note(gone, not now.tag and not now.text, path)
    end
  end
end

-- A change that was confirmed since the token must be told to whoever presents it; of other objects nothing else may be
-- told than was confirmed.
local function replay(calendar)
  local news = changes(calendar.place, calendar.token)
  note(taken, news, calendar.place)
  if not news then return end
  for _, path in ipairs(in_order(calendar.objects)) do
    local object, told_again = calendar.objects[path], news[path]
    if told_again == nil then
      note(since, object.token ~= calendar.token, path)
    else
      note(since, told_again == object.tag, path)
    end
  end
end

local function all_in(some, others)
  for path, tag in pairs(some) do
    if tag and others[path] ~= tag then return false end
  end
  return true
end

local function alike(some, others) return all_in(some, others) and all_in(others, some) end

-- Whether a program that begins anew is given what a list shows. Where something changes in between both are asked for
-- again.
local function begins_anew(place, list)
  for _ = 1, TRIES do
    local all = changes(place, "")
    if all and alike(list, all) then return true end
    local after = listed(place)
    if not all or alike(list, after) then return false end
    list = after
  end
  return false
end

local places, deleted = in_order(calendars), {}
for _, place in ipairs(places) do
  log_in(place)
  local paths = in_order(calendars[place].objects)
  for from = 1, #paths, BATCH do
    hold_to_it(place, table.move(paths, from, math.min(from + BATCH - 1, #paths), 1, {}))
  end
  for _, path in ipairs(paths) do
    if not calendars[place].objects[path].tag then deleted[#deleted + 1] = { place = place, path = path } end
  end
end

for _, place in ipairs(evenly(places, MAX_CALENDARS)) do
  log_in(place)
  local calendar, list = calendars[place], listed(place)
  for _, path in ipairs(in_order(calendar.objects)) do
    note(shown, (list[path] or false) == calendar.objects[path].tag, path)
  end
  -- A server without tokens has given none.
  if calendar.token ~= "" then
    replay(calendar)
    note(anew, begins_anew(place, list), place)
  end
end

for _, one in ipairs(evenly(deleted, MAX_GONE)) do
  log_in(one.place)
  local page = request("GET", one.path, { expect = { 200, 404, 410 } })
  note(unreadable, page.status ~= 200, one.path)
end

for _, of in ipairs({ there, whole, gone, unreadable, shown }) do say(of) end
if taken.all > 0 then
  for _, of in ipairs({ taken, since, anew }) do say(of) end
end
