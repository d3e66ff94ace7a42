-- A first look: the home page and one of its events.

function look_around(user)
  operation "HomePage"
  local page = get("/index.php", nil, { name = "home" })
  local events = page:all("events.php?socialEventID=", "\"")
  check(#events > 0, "events on the home page")
  parallel(page:objects(), { connections = 2, cache = true })

  operation "EventDetail"
  local detail = get("/events.php", { socialEventID = pick(events) }, { name = "event" })
  check(detail:has("Attendees"), "an event's page")
end
