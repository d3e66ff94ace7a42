-- Bodies of requests as CalDAV has them (RFC 4791, RFC 4918), and paths.

local ical = require "ical"
local time_zone = require "time_zone"

local webdav = { xml = "application/xml; charset=utf-8", ics = "text/calendar; charset=utf-8" }

local DECLARED <const> = '<?xml version="1.0" encoding="utf-8"?>\n'

-- What is in a collection: as programs list it that keep a copy.
webdav.list = DECLARED .. '<D:propfind xmlns:D="DAV:"><D:prop><D:getcontentlength/><D:getcontenttype/>'
  .. '<D:resourcetype/><D:getetag/></D:prop></D:propfind>'

-- Events between two times, whole.
function webdav.between(from_s, to_s)
  return DECLARED .. '<C:calendar-query xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">'
    .. '<D:prop><D:getetag/><C:calendar-data/></D:prop><C:filter><C:comp-filter name="VCALENDAR">'
    .. '<C:comp-filter name="VEVENT"><C:time-range start="' .. ical.stamp(from_s) .. '" end="' .. ical.stamp(to_s)
    .. '"/></C:comp-filter></C:comp-filter></C:filter></C:calendar-query>'
end

-- A calendar of this name, with the properties that the stress tool gave its own.
function webdav.make(name)
  return DECLARED .. '<C:mkcalendar xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><D:set><D:prop>'
    .. "<D:displayname>" .. name .. "</D:displayname>"
    .. "<C:calendar-description>Made by a user</C:calendar-description>"
    .. "<C:calendar-timezone>" .. time_zone .. "</C:calendar-timezone></D:prop></D:set></C:mkcalendar>"
end

-- Without its quotes, as the database has it; nothing of what is no strong tag.
function webdav.bare(etag) return etag and etag:match('^"([^"]*)"$') end

-- The path's last part, without the ending of calendar objects.
function webdav.uid(path) return path:match("([^/]+)%.ics$") end

return webdav
