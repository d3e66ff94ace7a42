-- What a client of CalDAV asks for (RFC 4791, 4918, 6578), as bodies of XML, and what addresses in answers mean.

local ical = require "ical"

local webdav = { xml = "application/xml; charset=utf-8", ics = "text/calendar; charset=utf-8" }

local DECLARED <const> = '<?xml version="1.0" encoding="utf-8"?>\n'
local SPACES <const> = ' xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:S="http://calendarserver.org/ns/"'
  .. ' xmlns:A="http://apple.com/ns/ical/"'

local function propfind(properties)
  return DECLARED .. "<D:propfind" .. SPACES .. "><D:prop>" .. properties .. "</D:prop></D:propfind>"
end

webdav.who = propfind "<D:current-user-principal/><D:principal-URL/><D:resourcetype/>"

webdav.principal = propfind("<C:calendar-home-set/><C:calendar-user-address-set/><C:schedule-inbox-URL/>"
  .. "<C:schedule-outbox-URL/><D:displayname/><D:principal-collection-set/><D:supported-report-set/>")

-- Everything that a program shows of a calendar.
webdav.calendars = propfind("<D:resourcetype/><D:displayname/><D:current-user-privilege-set/><D:owner/>"
  .. "<D:supported-report-set/><D:sync-token/><S:getctag/><S:source/><A:calendar-color/><A:calendar-order/>"
  .. "<C:calendar-description/><C:calendar-timezone/><C:supported-calendar-component-set/><C:max-resource-size/>")

-- Whether anything has changed.
webdav.poll = propfind "<D:resourcetype/><D:sync-token/><S:getctag/>"

webdav.list = propfind "<D:getetag/><D:getcontenttype/><D:resourcetype/>"

local function escaped(text) return (text:gsub("[&<>]", { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;" })) end

-- What has changed since the token was given; everything for an empty one.
function webdav.changes(token)
  return DECLARED .. "<D:sync-collection" .. SPACES .. "><D:sync-token>" .. escaped(token)
    .. "</D:sync-token><D:sync-level>1</D:sync-level><D:prop><D:getetag/></D:prop></D:sync-collection>"
end

function webdav.objects(hrefs)
  local parts = { DECLARED, "<C:calendar-multiget", SPACES, "><D:prop><D:getetag/><C:calendar-data/></D:prop>" }
  for _, href in ipairs(hrefs) do parts[#parts + 1] = "<D:href>" .. escaped(href) .. "</D:href>" end
  parts[#parts + 1] = "</C:calendar-multiget>"
  return table.concat(parts)
end

-- Events between two times, whole.
function webdav.between(from_s, to_s)
  return DECLARED .. "<C:calendar-query" .. SPACES .. "><D:prop><D:getetag/><C:calendar-data/></D:prop>"
    .. '<C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="VEVENT"><C:time-range start="'
    .. ical.stamp(from_s) .. '" end="' .. ical.stamp(to_s)
    .. '"/></C:comp-filter></C:comp-filter></C:filter></C:calendar-query>'
end

-- The path of an address, which may be a whole URL.
function webdav.path(href) return href:match("^https?://[^/]+(/.*)$") or href end

-- The path's last part without the ending of calendar objects; nothing for what has another one.
function webdav.uid(path) return path:match("([^/]+)%.ics$") end

return webdav
