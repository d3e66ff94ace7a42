-- UTC as a time zone of iCalendar, as clients give one to a calendar: an object of its own, in XML. A carriage return
-- must be written as a reference there, since XML makes a plain one a line end. The kit `caldav` borrows this file.

return table.concat({
  "BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Plimsoll//Calendar users//EN", "BEGIN:VTIMEZONE", "TZID:Etc/UTC",
  "BEGIN:STANDARD", "DTSTART:19700101T000000", "TZOFFSETFROM:+0000", "TZOFFSETTO:+0000", "TZNAME:UTC", "END:STANDARD",
  "END:VTIMEZONE", "END:VCALENDAR", "",
}, "&#13;\n")
