-- What the web page asks for by JSON, and events as it knows them.

local ical = require "ical"

local DAY_S <const> = 86400

local web_page = {}

-- A call. Gives its result.
function web_page.call(method, params)
  local id = random(1, 1000000)
  local page = post("/json-rpc", nil, { json = { id = id, method = method, params = params }, name = method })
  check(page:json("/id") == id and page:json("/error") == nil, "an answer to the call")
  return page:json("/result") or fail("no result of " .. method)
end

local function plain(text) return text and text:gsub("\\,", ",") end

-- An event with the times and texts of what was drawn: the page knows no alarms, nor rules of repetition.
function web_page.event(drawn)
  local day = drawn.start // DAY_S
  local whole_days = drawn.all_day
  return {
    summary = plain(drawn.summary),
    description = plain(drawn.description),
    start = whole_days and ical.date_text(day) or ical.stamp(drawn.start),
    ["end"] = whole_days and ical.date_text(day + 1) or ical.stamp(drawn.start + 60 * drawn.minutes),
    allDay = whole_days,
  }
end

return web_page
