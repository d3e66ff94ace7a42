-- What people do with their calendars: the mix of 2006, as far as it can be known. What the stress tool of 2007 did is
-- in the last third.
--
-- A user has accounts of its own and acts for any of them. It remembers the tags of what it saw and put there, sends
-- them with what it changes, and compares them with what it is shown; the last word on each object goes to check.lua.

local accounts = require "accounts"
local ical = require "ical"
local population = require "population"
local web_page = require "web_page"
local webdav = require "webdav"

local DAY_S <const> = 86400
local ZERO_S <const> = accounts.zero * DAY_S
local WEEK_S <const> = 7 * DAY_S
-- So many objects that it added an account keeps; then the oldest goes for each that comes.
local MAX_ADDED <const> = 4

-- What the user knows of one of its accounts, of any when none is named; from now on it acts for that one.
local function account_of(user, wanted)
  local n = wanted or accounts.pick(user)
  user.accounts = user.accounts or {}
  local account = user.accounts[n]
  if not account then
    account = {
      number = n,
      name = population.name(n),
      place = accounts.calendar(n),
      given = population.objects(n),
      -- By path, as last told; nothing where nobody knows.
      etags = {},
      -- Paths of what was added, the oldest first.
      added = {},
      -- Whether it is known how many objects there are.
      sure = true,
    }
    user.accounts[n] = account
  end
  auth(account.name, account.name)
  return account
end

local function objects_in(account) return account.given + #account.added end

-- Whether a list of all objects has as many as there must be. On a server that had users before they left some: how many
-- is learnt from the first list. check.lua counts all of them in the database.
local function all_listed(account, listed)
  if not account.sure then return true end
  account.left = account.left or math.max(0, listed - objects_in(account))
  return listed == objects_in(account) + account.left
end

local function any_object(account)
  local k = random(1, objects_in(account))
  if k > account.given then return account.added[k - account.given] end
  return account.place .. population.uid(account.number, k) .. ".ics"
end

-- A random one, which nothing of the data set has.
local function new_uid() return digits(8) .. "-0001-4000-8000-" .. digits(12) end

-- When it is now for somebody who changes things: a minute later each time.
local function clock(user)
  user.changes = (user.changes or 0) + 1
  return ZERO_S + 60 * user.changes
end

-- The tag that an answer gives an object is the one that is known, if one is.
local function seen(etags, path, etag)
  check(etag and etag == (etags[path] or etag), "the tag that was last told of " .. path)
  etags[path] = etag
end

-- Sends an object. Until the answer is there nobody knows what it is.
local function put_object(etags, path, body, headers, status)
  etags[path] = nil
  told(path)
  local options = { body = body, type = webdav.ics, headers = headers, expect = status, name = "object" }
  local etag = request("PUT", path, options):header("ETag")
  told(path, webdav.bare(etag) or fail("no strong tag of what was put"))
  etags[path] = etag
  count "changes"
end

local function delete_object(etags, path, headers)
  etags[path] = nil
  told(path)
  delete(path, nil, { headers = headers, expect = 204, name = "object" })
  told(path, false)
  count "changes"
  count "objects deleted"
end

local function add(user, account)
  local uid = new_uid()
  local path = account.place .. uid .. ".ics"
  local body = ical.text(uid, ical.draw(accounts.zero), clock(user), 0)
  local sure = account.sure
  account.sure = false
  put_object(account.etags, path, body, { ["If-None-Match"] = "*" }, 201)
  account.sure = sure
  account.added[#account.added + 1] = path
  count "objects added"
end

-- What the user looked at last, as long as its tag is known: that is what it changes.
local function looked_at(user)
  local read = user.read
  return read and user.accounts[read.account].etags[read.path] and read
end

-- Puts another text in the place of an object, of the same kind.
local function change(user, account, read)
  local drawn
  repeat drawn = ical.draw(accounts.zero) until drawn.task == read.task
  local now = clock(user)
  local headers = { ["If-Match"] = account.etags[read.path] }
  put_object(account.etags, read.path, ical.text(webdav.uid(read.path), drawn, now, user.changes), headers, 204)
end

-- What was added longest ago, whose tag is known.
local function remove_oldest(account)
  local path = table.remove(account.added, 1)
  local etag = account.etags[path]
  local sure = account.sure
  account.sure = false
  delete_object(account.etags, path, etag and { ["If-Match"] = etag })
  account.sure = sure
end

-- Collections stay as large as they are: for each object too many the oldest goes.
local function keep_size(account)
  if param.deletes == "paired" and #account.added > MAX_ADDED then
    operation "Delete"
    remove_oldest(account)
  end
end

-- Half of what is put changes what the user saw before, the other half is new.
function Put(user)
  local read = chance(0.5) and looked_at(user)
  local account = account_of(user, read and read.account)
  operation "Put"
  if read then change(user, account, read) else add(user, account) end
  count "transactions"
  keep_size(account)
end

function Get(user)
  local account = account_of(user)
  local path = any_object(account)
  operation "Get"
  local page = get(path, nil, { name = "object" })
  check(page:has("UID:" .. webdav.uid(path)), "the object that was asked for")
  seen(account.etags, path, page:header("ETag"))
  user.read = { account = account.number, path = path, task = page:has("BEGIN:VTODO") }
  count "transactions"
end

function Propfind(user)
  local account = account_of(user)
  operation "Propfind"
  local headers = { Depth = 1 }
  local page = request("PROPFIND", account.place,
    { body = webdav.list, type = webdav.xml, headers = headers, expect = 207, name = "collection" })
  local listed = page:count("</d:response>") - 1
  check(all_listed(account, listed), "all objects listed, not " .. listed)
  count "transactions"
end

-- The events of a week, whole.
local function report(place, etags, from_s)
  local page = request("REPORT", place, {
    body = webdav.between(from_s, from_s + WEEK_S),
    type = webdav.xml,
    headers = { Depth = 1 },
    expect = 207,
    name = "collection",
  })
  local rows = page:xml("response", { "href", "getetag", "calendar-data" })
  for _, row in ipairs(rows) do
    check(row["calendar-data"] and row["calendar-data"]:find("BEGIN:VEVENT", 1, true), "an event")
    seen(etags, row.href or fail("an object without an address"), row.getetag)
  end
  return rows
end

function Report(user)
  local account = account_of(user)
  operation "Report"
  local rows = report(account.place, account.etags, ZERO_S + DAY_S * random(-365, 358))
  if #rows > 0 then user.read = { account = account.number, path = pick(rows).href, task = false } end
  count "transactions"
end

-- The web page's view of a month: what is seen there is what is changed next.
function JsonRpc(user)
  local account = account_of(user)
  operation "JsonRpc"
  local from_s = ZERO_S + DAY_S * random(-365, 330)
  local events = web_page.call("getEvents",
    { calendar = "calendar", start = ical.stamp(from_s), ["end"] = ical.stamp(from_s + 5 * WEEK_S) })
  for _, event in ipairs(events) do
    seen(account.etags, account.place .. (event.uri or fail("an event without a name")), event.etag)
  end
  if #events > 0 then
    user.read = { account = account.number, path = account.place .. pick(events).uri, task = false }
  end
  count "transactions"
end

-- What the page asks first when it is opened.
function JsonCalendars(user)
  account_of(user)
  operation "JsonCalendars"
  local found = false
  for _, calendar in ipairs(web_page.call "getCalendars") do found = found or calendar.calendar == "calendar" end
  check(found, "the user's calendar")
  count "transactions"
end

-- Saves an event and gives its path, which for a new one the server makes up. Until the answer is there nobody knows.
local function save(account, event)
  local saved = web_page.call("saveEvent", { calendar = "calendar", event = event })
  local path = account.place .. (saved.uri or fail("no name of what was saved"))
  told(path, webdav.bare(saved.etag) or fail("no strong tag of what was saved"))
  account.etags[path] = saved.etag
  count "changes"
  return path
end

local function save_changed(account, path, event)
  event.uri, event.etag = path:sub(#account.place + 1), account.etags[path]
  account.etags[path] = nil
  told(path)
  check(save(account, event) == path, "the event that was to be saved")
end

local function save_new(account, event)
  local sure = account.sure
  account.sure = false
  local path = save(account, event)
  account.sure = sure
  account.added[#account.added + 1] = path
  count "objects added"
end

-- Half of what the page saves changes an event that the user saw before, the other half is new.
function JsonSave(user)
  local read = chance(0.5) and looked_at(user)
  if read and read.task then read = nil end
  local account = account_of(user, read and read.account)
  local drawn
  repeat drawn = ical.draw(accounts.zero) until not drawn.task
  local event = web_page.event(drawn)
  operation "JsonSave"
  if read then save_changed(account, read.path, event) else save_new(account, event) end
  count "transactions"
  keep_size(account)
end

function AtomGet(user)
  local account = account_of(user)
  operation "AtomGet"
  local week = chance(0.5)
  local from_s = ZERO_S + DAY_S * random(-365, 358)
  local span = week and { start = ical.stamp(from_s), ["end"] = ical.stamp(from_s + WEEK_S) } or nil
  local page = get("/atom/collection/" .. account.name .. "/calendar/full", span, { name = week and "week" or "feed" })
  local entries = page:count("<entry>")
  check(page:has("</feed>") and (week or all_listed(account, entries)), "the whole feed")
  count "transactions"
end

function IcsGet(user)
  local account = account_of(user)
  operation "IcsGet"
  local ticket = { ticket = accounts.ticket(account.number) }
  local page = get("/webcal/collection/" .. account.name .. "/calendar", ticket, { name = "webcal" })
  local objects = page:count("\r\nUID:")
  check(page:has("END:VCALENDAR") and all_listed(account, objects), "the whole calendar")
  count "transactions"
end

-- The stress tool of 2007: collections of the user's own, which grow.

-- A moment as the tool drew it: it never drew the largest number of a range, nor 0.
local function in_2007()
  local day = ical.day(2007, random(1, 11), random(1, 27))
  return day * DAY_S + 3600 * random(1, 22) + 60 * random(1, 58)
end

local function drawn_in_2007()
  local drawn = { start = in_2007(), minutes = 30 * random(1, 3), summary = letters(50), task = chance(0.1) }
  if not drawn.task and chance(0.05) then
    drawn.weekly, drawn.description = true, letters(50) .. letters(50)
  end
  return drawn
end

-- One of the user's collections; nothing as long as it has none.
local function collection_of(user)
  auth(population.name(user.number), population.name(user.number))
  user.collections = user.collections or {}
  if #user.collections == 0 then return nil end
  local place = random(1, #user.collections)
  return user.collections[place], place
end

local function make_calendar(user)
  operation "MakeCalendar"
  local name = letters(40):lower()
  local place = "/dav/calendars/" .. population.name(user.number) .. "/" .. name .. "/"
  told(place)
  request("MKCALENDAR", place, { body = webdav.make(name), type = webdav.xml, expect = 201, name = "collection" })
  told(place, "calendar")
  user.collections[#user.collections + 1] = { place = place, etags = {}, items = {} }
  count "transactions"
end

function StressMakeCalendar(user)
  collection_of(user)
  make_calendar(user)
end

function StressPut(user)
  local collection = collection_of(user)
  if not collection then return make_calendar(user) end
  operation "Put"
  local uid = new_uid()
  local path = collection.place .. uid .. ".ics"
  put_object(collection.etags, path, ical.text(uid, drawn_in_2007(), clock(user), 0), nil, 201)
  collection.items[#collection.items + 1] = path
  count "objects added"
  count "transactions"
end

function StressGet(user)
  local collection = collection_of(user)
  if not collection or #collection.items == 0 then return StressPut(user) end
  operation "Get"
  local path = pick(collection.items)
  local page = get(path, nil, { name = "object" })
  check(page:has("UID:" .. webdav.uid(path)), "the object that was asked for")
  seen(collection.etags, path, page:header("ETag"))
  count "transactions"
end

function StressPropfind(user)
  local collection = collection_of(user)
  if not collection then return make_calendar(user) end
  operation "Propfind"
  local options = { body = webdav.list, type = webdav.xml, headers = { Depth = 1 }, expect = 207, name = "collection" }
  local page = request("PROPFIND", collection.place, options)
  local listed = page:count("</d:response>") - 1
  check(listed >= #collection.items, "all objects listed, not " .. listed)
  count "transactions"
end

function StressReport(user)
  local collection = collection_of(user)
  if not collection then return make_calendar(user) end
  operation "Report"
  report(collection.place, collection.etags, in_2007() // DAY_S * DAY_S)
  count "transactions"
end

function StressDelete(user)
  local collection = collection_of(user)
  if not collection or #collection.items == 0 then return StressPut(user) end
  operation "Delete"
  local path = table.remove(collection.items, random(1, #collection.items))
  delete_object(collection.etags, path)
  count "transactions"
end

function StressDeleteCalendar(user)
  local collection, number = collection_of(user)
  if not collection then return make_calendar(user) end
  operation "DeleteCalendar"
  table.remove(user.collections, number)
  told(collection.place)
  for _, path in ipairs(collection.items) do told(path) end
  delete(collection.place, nil, { expect = 204, name = "collection" })
  told(collection.place, false)
  for _, path in ipairs(collection.items) do told(path, false) end
  count("objects deleted", #collection.items)
  count "calendars deleted"
  count "transactions"
end
