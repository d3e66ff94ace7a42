-- What must hold in the database after a run, by what the users were told: the last word on each object, noted with
-- `told` when its answer had come. What was never answered may have been done or not, and is not told.

local BATCH <const> = 200

local function base(column) return query("SELECT " .. column .. " FROM baseline") end

local function quoted(text) return "'" .. text:gsub("[\\']", { ["\\"] = "\\\\", ["'"] = "''" }) .. "'" end

local function in_order(list)
  local keys = {}
  for key in pairs(list) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

-- By calendar: the objects that are there with their tags, those that are gone, and what was told of itself.
local calendars = {}
for path, state in pairs(told) do
  local user, uri, object = path:match("^/dav/calendars/([^/]+)/([^/]+)/([^/]*)$")
  local name = user .. "/" .. uri
  local calendar = calendars[name] or { user = user, uri = uri, there = {}, gone = {} }
  calendars[name] = calendar
  if object == "" then
    calendar.told = state
  elseif state then
    calendar.there[object] = state
  else
    calendar.gone[object] = true
  end
end

-- Adds up what `of` finds for some objects at a time; where that is not right, gives the first such object too.
local function in_batches(objects, of, right)
  local keys, found, first = in_order(objects), 0, nil
  for from = 1, #keys, BATCH do
    local some = table.move(keys, from, math.min(from + BATCH - 1, #keys), 1, {})
    local seen = of(some)
    found = found + seen
    if not first and seen ~= right(#some) then
      for _, key in ipairs(some) do
        if of({ key }) ~= right(1) then
          first = key
          break
        end
      end
    end
  end
  return found, first
end

local function matching(id, condition, list)
  if #list == 0 then return 0 end
  local values = table.concat(list, ",")
  return query("SELECT COUNT(*) FROM calendarobjects WHERE calendarid = " .. id .. " AND " .. condition .. " IN ("
    .. values .. ")")
end

-- Those that have the tag that was told, which is that of the data.
local function with_their_tags(id, objects)
  return function(keys)
    local pairs_of = {}
    for number, key in ipairs(keys) do pairs_of[number] = "(" .. quoted(key) .. "," .. quoted(objects[key]) .. ")" end
    return matching(id, "etag = MD5(calendardata) AND (uri, etag)", pairs_of)
  end
end

local function by_name(id)
  return function(keys)
    local names = {}
    for number, key in ipairs(keys) do names[number] = quoted(key) end
    return matching(id, "uri", names)
  end
end

local told_there, told_gone, there, gone = 0, 0, 0, 0
local lost, left, lost_calendars, left_calendars = nil, nil, 0, 0
for _, name in ipairs(in_order(calendars)) do
  local calendar = calendars[name]
  local id = query("SELECT COALESCE(MAX(id), 0) FROM calendars WHERE principaluri = "
    .. quoted("principals/" .. calendar.user) .. " AND uri = " .. quoted(calendar.uri))
  if calendar.told and id == 0 then lost_calendars = lost_calendars + 1 end
  if calendar.told == false and id ~= 0 then left_calendars = left_calendars + 1 end
  local found, first = in_batches(calendar.there, with_their_tags(id, calendar.there), function(count) return count end)
  there, lost = there + found, lost or first and name .. "/" .. first
  found, first = in_batches(calendar.gone, by_name(id), function() return 0 end)
  gone, left = gone + found, left or first and name .. "/" .. first
  told_there, told_gone = told_there + #in_order(calendar.there), told_gone + #in_order(calendar.gone)
end

local function named(what, first) return first and what .. " (not " .. first .. ")" or what end

expect(named("objects that were confirmed are there with the tag that was told", lost), there, told_there)
expect(named("deleted objects that are still there", left), gone, 0)
expect("calendars that were made and are not there", lost_calendars, 0)
expect("deleted calendars that are still there", left_calendars, 0)

-- How many there are, by what was counted.
local open_puts, open_deletes = unanswered.Put + unanswered.JsonSave, unanswered.Delete
local objects = query "SELECT COUNT(*) FROM calendarobjects" - base "objects"
local added = counters["objects added"] - counters["objects deleted"]
if counters["calendars deleted"] + unanswered.DeleteCalendar == 0 then
  expect("new objects = those added less those deleted", objects, added - open_deletes, added + open_puts)
  -- sabre/dav counts a calendar's tag up with each change of what is in it.
  local changes = query "SELECT SUM(ctag) FROM calendars" - base "changes"
  local made = query "SELECT COUNT(*) FROM calendars WHERE uri <> 'calendar'"
  expect("the tags of calendars rose by the changes in them", changes - made, counters.changes,
    counters.changes + open_puts + open_deletes)
end

expect("changed objects whose tag, size or kind is not that of their data", query(string.format([[
  SELECT COUNT(*) FROM calendarobjects WHERE lastmodified > %d AND (etag <> MD5(calendardata)
    OR size <> LENGTH(calendardata) OR LOCATE(CONCAT('BEGIN:', componenttype), calendardata) = 0)]], base "made")), 0)
expect("objects of no calendar", query [[
  SELECT COUNT(*) FROM calendarobjects O LEFT JOIN calendars C ON C.id = O.calendarid WHERE C.id IS NULL]], 0)
