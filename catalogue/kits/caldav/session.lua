-- What people's calendar programs do today. Each user is one account with two devices: one keeps a copy of the calendar
-- and asks for what has changed, on the other one the person adds, changes and deletes. So what the one is told must be
-- what the other one did: every confirmed change, with the tag that was confirmed, and nothing else.

local clock = require "clock"
local copy = require "copy"
local discovery = require "discovery"
local ical = require "ical"
local promises = require "promises"
local webdav = require "webdav"

local DAY_S <const> = 86400
local WEEK_S <const> = 7 * DAY_S
-- Objects that are asked for at once.
local BATCH <const> = 50
-- So many objects that it added a user keeps; then the oldest goes for each that comes.
local MAX_ADDED <const> = 4
-- What nobody knows: a change that has not been answered.
local OPEN <const> = true

-- What was confirmed must be so. A run in which it is not is no measurement.
local function kept(holds, what)
  if not check(holds, what) then count "broken promises" end
end

local ask, filled = webdav.ask, webdav.filled

-- What has changed since a token, and the next token; nothing where the server does not know the token.
local function changes_since(user, token)
  local page = ask("REPORT", user.place, 0, webdav.changes(token), { 207, 403, 409, 412 })
  if page.status ~= 207 then
    check(page:has("valid-sync-token"), "the reason of status " .. page.status)
    return nil
  end
  local rows = page:xml("response", { "href", "getetag" })
  return rows, filled(page:xml("sync-token")[1]) or fail("no token")
end

-- The paths of objects with their tags; false for what is gone.
local function states(rows)
  local found = {}
  for _, row in ipairs(rows) do
    local path = webdav.path(row.href)
    if webdav.uid(path) then found[path] = filled(row.getetag) or false end
  end
  return found
end

-- All objects with their tags, and where there are tokens the one of now.
local function everything(user)
  if user.syncs then
    local rows, token = changes_since(user, "")
    return states(rows or fail("an empty token is refused")), token
  end
  return states(ask("PROPFIND", user.place, 1, webdav.list, 207):xml("response", { "href", "getetag" }))
end

-- The device with the copy is told that an object is so now, and the other device was told the same. Gives whether it
-- wants to have it.
local function learn(user, path, etag)
  local held, expected = user.copy.etags[path] or false, user.truth[path]
  if expected == nil then expected = held end
  if expected ~= OPEN then
    kept(etag == expected, "what was confirmed of " .. path)
    if etag ~= held then count "changes told" end
  end
  user.truth[path] = nil
  if etag then copy.put(user.copy, path, etag) else copy.remove(user.copy, path) end
  return etag and etag ~= held
end

-- Takes over what a server tells: all that there is, or what has changed. Gives the paths of what is to be fetched.
local function take_over(user, found, whole)
  if whole then
    for _, path in ipairs(user.copy.paths) do found[path] = found[path] or false end
  end
  -- In order, so that the same seed makes the same copy.
  local paths, wanted = {}, {}
  for path in pairs(found) do paths[#paths + 1] = path end
  table.sort(paths)
  for _, path in ipairs(paths) do
    if learn(user, path, found[path]) then wanted[#wanted + 1] = path end
  end
  -- What was not told is as it was: right for what came and went in between, and where nobody knows.
  for path, expected in pairs(user.truth) do
    kept(expected == OPEN or expected == (user.copy.etags[path] or false), "a word of what was done to " .. path)
  end
  user.truth = {}
  return wanted
end

local function fetch(user, paths)
  for from = 1, #paths, BATCH do
    operation "Multiget"
    local some = table.move(paths, from, math.min(from + BATCH - 1, #paths), 1, {})
    local page = ask("REPORT", user.place, 1, webdav.objects(some), 207)
    local rows = page:xml("response", { "href", "getetag", "calendar-data" })
    check(#rows == #some, #some .. " objects, not " .. #rows)
    for _, row in ipairs(rows) do
      local path, data = webdav.path(row.href), row["calendar-data"] or ""
      check(data:find("UID:" .. (webdav.uid(path) or "?"), 1, true), "the object that was asked for")
      kept(row.getetag == user.copy.etags[path], "the tag of " .. path)
      user.tasks[path] = data:find("BEGIN:VTODO", 1, true) and true or nil
    end
  end
end

-- Finds the calendar, sets it up and fetches all of it, as a program does when an account is added to it.
local function start(user)
  user.copy, user.truth, user.tasks, user.added = copy.new(), {}, {}, {}
  discovery.find(user)
  if not user.is_set_up then discovery.set_up(user) end
  user.is_set_up = true
  operation "FirstSync"
  local found, token = everything(user)
  -- What is there already was confirmed to nobody.
  for path in pairs(found) do user.truth[path] = OPEN end
  local wanted = take_over(user, found, true)
  user.token, user.started = token, true
  promises.calendar(user)
  fetch(user, wanted)
  discovery.look_round(user)
end

-- Asks whether anything has changed.
local function state_of(user)
  operation "Poll"
  local page = ask("PROPFIND", user.home, 1, webdav.poll, 207)
  for _, row in ipairs(page:xml("response", { "href", "sync-token", "getctag" })) do
    if webdav.path(row.href) == user.place then return filled(row["sync-token"]) or filled(row.getctag) end
  end
end

function Poll(user)
  if not user.started then return start(user) end
  local state = state_of(user) or fail("no state of the calendar")
  if state == user.state and not next(user.truth) then return end
  local found, token, whole
  if not user.syncs then
    operation "List"
    found, whole = everything(user), true
  elseif chance(param.lost_tokens) then
    -- As a program that was restored from a backup, or was away for too long.
    operation "Sync"
    if not changes_since(user, user.token .. "-lost") then count "tokens refused" end
    operation "Resync"
    found, token = everything(user)
    whole = true
  else
    operation "Sync"
    local rows
    rows, token = changes_since(user, user.token)
    found, whole = states(rows or fail("the token is one that the server gave")), false
  end
  local wanted = take_over(user, found, whole)
  user.state, user.token = state, token
  promises.calendar(user)
  fetch(user, wanted)
end

-- A program that is started again. One that does not come so far begins with everything anew: it may not be logged in.
function Restart(user)
  if not user.started then return start(user) end
  forget()
  user.started = false
  discovery.find(user)
  user.started = true
  discovery.look_round(user)
end

-- The tag that was last confirmed; false for what is gone, OPEN where nobody knows.
local function tag_of(user, path)
  local etag = user.truth[path]
  if etag == nil then etag = user.copy.etags[path] end
  return etag
end

-- An object whose tag is known.
local function any_object(user)
  for _ = 1, 20 do
    local path = copy.size(user.copy) > 0 and copy.any(user.copy)
    local etag = path and tag_of(user, path)
    if etag and etag ~= OPEN then return path, etag end
  end
  fail("no object with a known tag")
end

-- Sends an object. Until the answer is there nobody knows what it is. Gives its status.
local function put_object(user, path, drawn, headers, right)
  user.truth[path] = OPEN
  promises.none(path)
  local now, changes = clock.now(user)
  local body = ical.text(webdav.uid(path), drawn, now, changes)
  local options = { body = body, type = webdav.ics, headers = headers, expect = right, name = "object" }
  local page = request("PUT", path, options)
  local status = page.status
  if status == 412 then return status end
  -- A server that keeps something else than it was sent tells no tag: the object is to be asked for.
  local etag = page:header("ETag") or get(path, nil, { name = "object" }):header("ETag")
  user.truth[path] = etag or fail("no tag of what was put")
  promises.object(user, path, etag)
  user.tasks[path] = drawn.task or nil
  count "confirmed"
  return status
end

local function remove_oldest(user)
  operation "Delete"
  local path = table.remove(user.added, 1)
  local etag = tag_of(user, path)
  local known = etag and etag ~= OPEN
  user.truth[path] = OPEN
  promises.none(path)
  local headers = known and { ["If-Match"] = etag } or nil
  local status = delete(path, nil, { headers = headers, expect = { 200, 204, 404, 412 }, name = "object" }).status
  -- What was confirmed is there, with its tag, until now.
  kept(not known or status < 300, "what is to be deleted is as it was confirmed, not status " .. status)
  if status == 412 then return end
  user.truth[path] = false
  promises.object(user, path, false)
  user.tasks[path] = nil
  if status < 300 then count "confirmed" end
end

function Create(user)
  if not user.started then return start(user) end
  operation "Create"
  local drawn, path, status = ical.draw(clock.zero), nil, nil
  repeat
    path = user.place .. digits(8) .. "-0001-4000-8000-" .. digits(12) .. ".ics"
    status = put_object(user, path, drawn, { ["If-None-Match"] = "*" }, { 201, 204, 200, 412 })
    if status == 412 then
      -- On a server that had these users before. Somebody's object it is, and so nothing of ours.
      count "names taken"
      user.truth[path] = nil
    end
  until status ~= 412
  user.added[#user.added + 1] = path
  if #user.added > MAX_ADDED then remove_oldest(user) end
end

-- Something that was changed on the other device since the last poll.
local function changed_elsewhere(user)
  local found
  for path, etag in pairs(user.truth) do
    local held = user.copy.etags[path]
    local changed = etag and etag ~= OPEN and held and held ~= etag
    if changed and (not found or path < found) then found = path end
  end
  return found
end

function Update(user)
  if not user.started then return start(user) end
  operation "Update"
  local path, etag = any_object(user)
  -- Now and then on the device with the copy, before it has asked: its tag is an old one.
  local stale = chance(param.conflicts) and changed_elsewhere(user)
  if stale then path, etag = stale, user.copy.etags[stale] end
  local confirmed = tag_of(user, path)
  local drawn
  repeat drawn = ical.draw(clock.zero) until drawn.task == (user.tasks[path] or false)
  local status = put_object(user, path, drawn, { ["If-Match"] = etag }, { 204, 201, 200, 412 })
  kept((status == 412) == (etag ~= confirmed), "status 412 for an old tag and for no other")
  if status == 412 then
    count "conflicts"
    user.truth[path] = confirmed
    local fresh = get(path, nil, { name = "object" }):header("ETag")
    kept(fresh == confirmed, "the tag that was confirmed")
    put_object(user, path, drawn, { ["If-Match"] = fresh }, { 204, 201, 200 })
  end
end

function Delete(user)
  if not user.started then return start(user) end
  if #user.added == 0 then return Create(user) end
  remove_oldest(user)
end

function Week(user)
  if not user.started then return start(user) end
  operation "Week"
  local from_s = clock.zero_s + DAY_S * random(-365, 358)
  local page = ask("REPORT", user.place, 1, webdav.between(from_s, from_s + WEEK_S), 207)
  for _, row in ipairs(page:xml("response", { "href", "getetag", "calendar-data" })) do
    local etag = tag_of(user, webdav.path(row.href))
    kept(etag == OPEN or etag == row.getetag, "the tag that was confirmed")
    check(row["calendar-data"] and row["calendar-data"]:find("BEGIN:VEVENT", 1, true), "an event")
  end
end

function Get(user)
  if not user.started then return start(user) end
  operation "Get"
  local path, etag = any_object(user)
  local page = get(path, nil, { name = "object" })
  check(page:has("UID:" .. webdav.uid(path)), "the object that was asked for")
  kept(page:header("ETag") == etag, "the tag that was confirmed")
end
