-- What people do with the calendar. Each function is an operation and a state of the matrix in kit.toml.
--
-- A user browses as a stranger until it logs in. From then on it is somebody, until it logs in as somebody else, or
-- registers: that begins with logging out, after which the server sees a new visitor with a new browser. An operation's
-- time is that of its page, the files that belong to the page, the pictures on it, and what it posts.
--
-- Beyond the original: every form's token is sent, so Login fetches its form first; titles, numbers of events, sizes of
-- pictures, and what was posted are checked.

local calendar = require "calendar"
local names = require "names"
local statics = require "statics"
local words = require "words"
local zones = require "zones"

local ACCOUNTS_EACH = 100
local SMALLEST_PICTURE = 1024
local WARM = 0.6
local ATTENDS = 0.1

-- When each static file was last changed, as the servers said: the files are the same for everybody.
local changed = {}

-- A new browser. Most have been here before and ask whether their copies are still good; the others fetch each file once.
local function new_browser(user)
  user.warm = chance(WARM)
  user.seen = {}
end

local function fetched(user, path)
  local known = user.seen[path]
  user.seen[path] = true
  return known
end

-- A page of the calendar, which must have this title.
local function look(user, page, title)
  check(page:has("<title>Events: " .. title .. "</title>"), "a page titled " .. title)
  user.token = page:between('name="csrf_token" value="', '"') or user.token
  user.today = page:header("Date")
  return page
end

local function open(user, path, query, title, options)
  if not user.seen then new_browser(user) end
  return look(user, get(path, query, options), title)
end

local function form_for(page, action)
  local number, form = 1, page:form(1)
  while form and form.action ~= action do
    number = number + 1
    form = page:form(number)
  end
  return form or fail("no form for " .. action)
end

-- The files that go with a kind of page: a warm browser asks for all of them, a cold one for what it never had.
local function static_requests(user, list)
  local requests = {}
  for _, path in ipairs(list) do
    if user.warm then
      local since = changed[path] or user.today
      local options = { name = "static", discard = true, expect = { 200, 304 } }
      if since then options.headers = { ["If-Modified-Since"] = since } end
      requests[#requests + 1] = { "GET", path, options }
    elseif not fetched(user, path) then
      requests[#requests + 1] = { "GET", path, { name = "static", discard = true, expect = 200 } }
    end
  end
  return requests
end

local function fetch_statics(user, list)
  local requests = static_requests(user, list)
  if #requests == 0 then return end
  local not_modified = 0
  for number, page in ipairs(parallel(requests, { connections = param.connections })) do
    if page.status == 304 then
      not_modified = not_modified + 1
    else
      changed[requests[number][2]] = page:header("Last-Modified")
    end
  end
  count("statics", #requests)
  count("statics not modified", not_modified)
end

-- The pictures that a page shows, as addresses.
local function pictures_on(page)
  local list = page:all('<img src="/fileService.php?', '"')
  for number, rest in ipairs(list) do list[number] = "/fileService.php?" .. rest:gsub("&amp;", "&") end
  return list
end

-- Fetches the pictures that this browser does not have: they never change. Gives how many and their bytes.
local function fetch_pictures(user, list)
  local requests = {}
  for _, path in ipairs(list) do
    if not fetched(user, path) then
      requests[#requests + 1] = { "GET", path, { name = "thumbnail", discard = true, expect = 200 } }
    end
  end
  if #requests == 0 then return 0, 0 end
  local bytes = 0
  for _, picture in ipairs(parallel(requests, { connections = param.connections })) do
    check(picture.bytes >= SMALLEST_PICTURE, "a picture and not " .. picture.bytes .. " bytes")
    bytes = bytes + picture.bytes
  end
  return #requests, bytes
end

-- The events that a page lists, and the pictures on it, before the page makes way for the next request.
local function contents(page)
  return page:all("events.php?socialEventID=", '"'), pictures_on(page), page:count('<div class="event">')
end

-- The server forgets who this was, and whoever comes next has another browser.
local function log_out(user)
  get("/logout.php", nil, { redirects = 0, expect = 302 })
  forget()
  user.name, user.token = nil, nil
  new_browser(user)
end

function HomePage(user)
  operation "HomePage"
  local events, pictures, listed = contents(open(user, "/index.php", nil, "Coming events"))
  check(listed == 10, "ten events, not " .. listed)
  if #events > 0 then user.event = pick(events) end
  fetch_statics(user, statics.page)
  local loaded, bytes = fetch_pictures(user, pictures)
  count("images on home pages", #pictures)
  count("images loaded for home pages", loaded)
  count("image bytes loaded for home pages", bytes)
end

function Login(user)
  operation "Login"
  if user.name then log_out(user) end
  local form = form_for(open(user, "/login.php", nil, "Log in"), "/login.php")
  -- Each user has accounts of its own, so that nobody is logged in twice at once.
  local account = random(0, ACCOUNTS_EACH - 1) * users + user.number
  form.fields.user_name, form.fields.password = names.of(account), account
  form.fields.submit = "Login"
  post(form.action, form.fields, { compressed = true, redirects = 0, expect = 302 })
  local home = open(user, "/index.php", nil, "Coming events", { compressed = true })
  if check(home:has("Logged in as") and not home:has("Username"), "logged in as " .. names.of(account)) then
    user.name = names.of(account)
  end
end

function TagSearch(user)
  operation "TagSearch"
  local tag = names.of(random(1, size.tags))
  local title = "Tagged " .. tag
  look(user, post("/taggedEvents.php", { csrf_token = user.token, tag = tag, search = "Find" }), title)
  local page = open(user, "/taggedEvents.php", { tag = tag, count = random(100, 150) }, title)
  local events, pictures, listed = contents(page)
  check(listed <= 10 and (listed > 0) ~= page:has("No events have this tag"), "up to ten events, or none")
  if listed > 0 and #events > 0 then user.event = pick(events) end
  fetch_statics(user, statics.page)
  count("images loaded for tag searches", (fetch_pictures(user, pictures)))
end

function EventDetail(user)
  operation "EventDetail"
  local id = user.event or fail("no event was ever seen")
  local page = get("/events.php", { socialEventID = id })
  check(page:has(" Attendees:</h3>") and page:has("<title>Events: "), "the page of event " .. id)
  user.token = page:between('name="csrf_token" value="', '"') or user.token
  local pictures = pictures_on(page)
  local attend = user.name and page:has("Attend") and form_for(page, "/addAttendee.php")
  fetch_statics(user, statics.event)
  fetch_pictures(user, pictures)
  count("images on event pages", #pictures)
  if attend and chance(ATTENDS) then
    local list = post(attend.action, attend.fields, { headers = { ["X-Requested-With"] = "XMLHttpRequest" } })
    check(list:has(">" .. user.name .. "<"), "among those who attend")
    if list:header("X-Attendance") == "new" then count "attended" end
  end
end

function PersonDetail(user)
  operation "PersonDetail"
  local name = names.of(random(1, math.min(size.users, ACCOUNTS_EACH * users)))
  local pictures = pictures_on(open(user, "/users.php", { username = name }, "Person " .. name))
  check(#pictures >= 1 and #pictures <= 7, "a picture, and of six friends at most")
  fetch_statics(user, statics.page)
  fetch_pictures(user, pictures)
end

-- Letters and digits, between `least` and `most` of them.
local function alphanumeric(least, most)
  local left, parts = random(least, most), {}
  while left > 0 do
    local piece = math.min(left, 60)
    parts[#parts + 1] = #parts % 2 == 0 and letters(piece) or digits(piece)
    left = left - piece
  end
  return table.concat(parts)
end

-- The parts of a form: what its page had hidden in it, what the user fills in, and the files.
local function filled_in(form, fields, files)
  local parts = { { name = "csrf_token", value = form.fields.csrf_token } }
  for _, field in ipairs(fields) do
    parts[#parts + 1] = { name = field[1], value = tostring(field[2] or "") }
  end
  for _, file in ipairs(files) do parts[#parts + 1] = file end
  return parts
end

local function with_address(fields)
  local street, second, city, state, zip, country = words.address()
  local address = {
    { "street1", street }, { "street2", second or "" }, { "city", city }, { "state", state }, { "zip", zip },
    { "country", country }, { "telephone", words.telephone() },
  }
  return table.move(address, 1, #address, #fields + 1, fields)
end

-- Sends a form with its files, and gives the address that the server answers with; nothing where it answers with another
-- status of those that are right.
local function upload(form, fields, files, right)
  local options = { multipart = filled_in(form, fields, files), redirects = 0, expect = right or 302 }
  local answer = post(form.action, nil, options)
  if answer.status ~= 302 then return nil end
  return answer:header("Location") or fail("no address of what was posted")
end

function AddPerson(user)
  operation "AddPerson"
  if user.name then log_out(user) end
  local form = form_for(open(user, "/addPerson.php", nil, "Register"), "/addPersonResult.php")
  fetch_statics(user, statics.form)
  -- Numbers behind those of the data set that no other user takes; on a stack that had users before, the next free one.
  user.added = user.added or 0
  local first, last = words.name(2, 12), words.name(5, 15)
  local name, where
  for _ = 1, 100 do
    local number = size.users + user.added * users + user.number
    user.added = user.added + 1
    name = names.of(number)
    where = upload(form, with_address {
      { "user_name", name }, { "password", number }, { "passwordx", number }, { "first_name", first },
      { "last_name", last }, { "email", first .. "_" .. last .. "@" .. letters(random(3, 10)):lower() .. ".com" },
      { "timezone", "PST" }, { "summary", alphanumeric(250, 2500) }, { "addpersonsubmit", "Create" },
    }, { { name = "user_image", file = "media/person.jpg", type = "image/jpeg" } }, { 302, 409 })
    if where then break end
  end
  if not where then fail("no free user name in 100 tries") end
  check(open(user, where, nil, "Person " .. name):has(last), "the new person's page")
  count "registered"
end

function AddEvent(user)
  operation "AddEvent"
  local form = form_for(open(user, "/addEvent.php", nil, "Post an event"), "/addEventResult.php")
  fetch_statics(user, statics.form)
  if not user.name then return end
  local title = words.text(15, 20)
  local year, month, day = calendar.after(random(0, 540))
  local tags = words.different(random(1, 7), function() return words.tag(size.tags) end)
  for place, tag in ipairs(tags) do tags[place] = names.of(tag) end
  local where = upload(form, with_address {
    { "title", title }, { "description", words.text(50, 495) }, { "summary", words.text(50, 60) },
    { "timezone", pick(zones) }, { "year", year }, { "month", month }, { "day", day }, { "hour", random(7, 21) },
    { "minute", 15 * random(0, 3) }, { "tags", table.concat(tags, " ") }, { "addeventsubmit", "Create" },
  }, {
    { name = "upload_event_image", file = "media/event.jpg", type = "image/jpeg" },
    { name = "upload_event_literature", file = "media/event.pdf", type = "application/pdf" },
  })
  check(open(user, where, nil, title):has(user.name), "the new event's page")
  count "posted"
  user.event = where:match("socialEventID=(%d+)") or user.event
end
