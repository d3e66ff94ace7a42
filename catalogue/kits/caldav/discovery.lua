-- How a program finds a calendar of which it knows the host's name alone (RFC 6764, RFC 4791), and what else it asks
-- for when it is started. What not every server has it does without: that is counted, and is no failure.

local population = require "population"
local webdav = require "webdav"

local discovery = {}

local ask, filled = webdav.ask, webdav.filled

-- The first address in an element of that name.
local function address(page, name)
  local found = page:xml(name, { "href" })[1]
  local href = found and filled(found.href)
  return href and webdav.path(href)
end

local function log_in(user)
  user.anonymous = false
  auth(user.name, user.name)
end

-- Asks for whoever is logged in. Who has not said who it is is told to, and says it.
local function who(user, path, right)
  local expected = user.anonymous and table.move(right, 1, #right, 2, { 401 }) or right
  local page = ask("PROPFIND", path, 0, webdav.who, expected)
  if page.status ~= 401 then return page end
  check(page:header("WWW-Authenticate"), "how to log in")
  count "told to log in"
  log_in(user)
  return ask("PROPFIND", path, 0, webdav.who, right)
end

-- By the well-known address, or by the root where that is not there.
local function principal_of(user)
  local page = who(user, "/.well-known/caldav", { 207, 404, 405 })
  if page.status ~= 207 then page = who(user, "/", { 207 }) end
  return address(page, "current-user-principal")
end

-- Asks for something that a server may not have, even where it has said so. `also` is one more status that is right.
local function ask_for_more(method, path, depth, body, also)
  local page = ask(method, path, depth, body, { 207, also, 403, 501 })
  local refused = page.status >= 400
  if page.status == 207 and method == "PROPPATCH" then
    for _, status in ipairs(page:xml "status") do refused = refused or not status:find(" 2%d%d") end
  end
  if refused then count "refused at the start" end
end

local function find_calendar(user)
  local page = ask("PROPFIND", user.home, 1, webdav.calendars, 207)
  local place
  for _, row in ipairs(page:xml("response", { "href", "calendar", "sync-token" })) do
    if row.calendar and not place then
      place = filled(webdav.path(row.href))
      -- A server that has no tokens is asked for all tags instead.
      user.syncs = filled(row["sync-token"]) ~= nil
    end
  end
  user.place = place or fail("no calendar in its home")
end

-- From a host's name to the calendar, knowing nothing of the server.
function discovery.find(user)
  user.name = population.name(user.number)
  user.anonymous = chance(param.unauthenticated)
  if not user.anonymous then log_in(user) end
  operation "Discover"
  local principal = principal_of(user)
  if user.anonymous then
    -- A server that answers whoever comes, as nobody (RFC 5397), has not told it to.
    log_in(user)
    principal = principal_of(user)
  end
  user.principal = principal or fail("no principal of whoever is logged in")
  local page = ask("PROPFIND", user.principal, 0, webdav.principal, 207)
  user.home = address(page, "calendar-home-set") or fail("no home of calendars")
  user.inbox, user.notices = address(page, "schedule-inbox-URL"), address(page, "notification-URL")
  user.expands = page:has("expand-property")
  local people = page:has("principal-search-property-set") and address(page, "principal-collection-set")
  if people then ask_for_more("REPORT", people, 0, webdav.searchable, 200) end
  find_calendar(user)
end

-- Gives the calendar a colour, a place among others and a time zone, as a program does that sees it for the first time.
function discovery.set_up(user)
  operation "SetUp"
  for _, body in ipairs(webdav.settings) do ask_for_more("PROPPATCH", user.place, nil, body, 200) end
end

-- What else an account may have: an inbox of invitations, notices, and others for whom it acts.
function discovery.look_round(user)
  operation "Account"
  if user.inbox then ask_for_more("PROPFIND", user.inbox, 1, webdav.list, 404) end
  if user.notices then ask_for_more("PROPFIND", user.notices, 1, webdav.list, 404) end
  if user.expands then ask_for_more("REPORT", user.principal, 0, webdav.delegates, 404) end
end

return discovery
