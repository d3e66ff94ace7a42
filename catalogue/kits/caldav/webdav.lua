-- What a client of CalDAV asks for (RFC 3744, 4791, 4918, 6578), as bodies of XML, and what addresses in answers mean.

local ical = require "ical"
local time_zone = require "time_zone"

local webdav = { xml = "application/xml; charset=utf-8", ics = "text/calendar; charset=utf-8" }

local DECLARED <const> = '<?xml version="1.0" encoding="utf-8"?>\n'
local SPACES <const> = ' xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:S="http://calendarserver.org/ns/"'
  .. ' xmlns:A="http://apple.com/ns/ical/" xmlns:M="http://me.com/_namespace/"'

local function propfind(properties)
  return DECLARED .. "<D:propfind" .. SPACES .. "><D:prop>" .. properties .. "</D:prop></D:propfind>"
end

webdav.who = propfind "<D:current-user-principal/><D:principal-URL/><D:resourcetype/>"

webdav.principal = propfind("<C:calendar-home-set/><C:calendar-user-address-set/><C:schedule-inbox-URL/>"
  .. "<C:schedule-outbox-URL/><D:displayname/><D:principal-URL/><D:principal-collection-set/><D:resource-id/>"
  .. "<D:supported-report-set/><S:dropbox-home-URL/><S:email-address-set/><S:notification-URL/>")

-- By which properties people can be looked for.
webdav.searchable = DECLARED .. '<D:principal-search-property-set xmlns:D="DAV:"/>'

local function of_whom(property)
  return '<D:property name="' .. property .. '" namespace="http://calendarserver.org/ns/">'
    .. '<D:property name="displayname"/><D:property name="principal-URL"/><D:property name="calendar-user-address-set"'
    .. ' namespace="urn:ietf:params:xml:ns:caldav"/></D:property>'
end

-- For whom somebody may read and write.
webdav.delegates = DECLARED .. '<D:expand-property xmlns:D="DAV:">' .. of_whom "calendar-proxy-read-for"
  .. of_whom "calendar-proxy-write-for" .. "</D:expand-property>"

-- Everything that a program wants to know of a calendar: 38 properties, of which no server has all.
webdav.calendars = propfind("<D:add-member/><D:current-user-privilege-set/><D:displayname/><D:owner/>"
  .. "<D:quota-available-bytes/><D:quota-used-bytes/><D:resource-id/><D:resourcetype/><D:supported-report-set/>"
  .. "<D:sync-token/><C:calendar-description/><C:calendar-timezone/><C:default-alarm-vevent-date/>"
  .. "<C:default-alarm-vevent-datetime/><C:schedule-calendar-transp/><C:schedule-default-calendar-URL/>"
  .. "<C:supported-calendar-component-set/><C:supported-calendar-component-sets/><S:allowed-sharing-modes/><S:getctag/>"
  .. "<S:invite/><S:pre-publish-url/><S:publish-url/><S:push-transports/><S:pushkey/><S:source/>"
  .. "<S:subscribed-strip-alarms/><S:subscribed-strip-attachments/><S:subscribed-strip-todos/><S:xmpp-server/>"
  .. "<S:xmpp-uri/><A:autoprovisioned/><A:calendar-color/><A:calendar-order/><A:language-code/><A:location-code/>"
  .. "<A:refreshrate/><M:bulk-requests/>")

local function proppatch(property)
  return DECLARED .. "<D:propertyupdate" .. SPACES .. "><D:set><D:prop>" .. property
    .. "</D:prop></D:set></D:propertyupdate>"
end

-- What a program sets of a calendar that it has not seen before, one after the other.
webdav.settings = {
  proppatch "<A:calendar-color>#44AA22FF</A:calendar-color>",
  proppatch "<A:calendar-order>1</A:calendar-order>",
  proppatch("<C:calendar-timezone>" .. time_zone .. "</C:calendar-timezone>"),
}

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
  local parts = {
    DECLARED, "<C:calendar-multiget", SPACES, "><D:prop><D:getetag/><C:schedule-tag/><C:calendar-data/></D:prop>",
  }
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

-- Sends one of these bodies. `right` are the statuses that are.
function webdav.ask(method, path, depth, body, right)
  local name = method == "REPORT" and "report" or method == "PROPPATCH" and "settings" or "properties"
  local headers = { Depth = depth }
  return request(method, path, { body = body, type = webdav.xml, headers = headers, expect = right, name = name })
end

-- A text that is not empty; nothing else.
function webdav.filled(text) return text and text ~= "" and text or nil end

-- The path of an address, which may be a whole URL; an empty one where an answer has none.
function webdav.path(href) return href and (href:match("^https?://[^/]+(/.*)$") or href) or "" end

-- The path's last part without the ending of calendar objects; nothing for what has another one.
function webdav.uid(path) return path:match("([^/]+)%.ics$") end

return webdav
