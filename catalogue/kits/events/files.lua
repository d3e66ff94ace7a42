-- The file store: a picture and a thumbnail of each person and event, and a leaflet of each event. They are the same
-- five files over and over, as in the original's loader; here as links, which cost no room.

local function add(folder, id, name, original)
  file(string.format("%s/%03d/%03d/%s", folder, id % 1000, id // 1000000 % 1000, name), { copy = "media/" .. original })
end

local function persons(first, last)
  for id = first, last do
    add("persons", id, "p" .. id .. ".jpg", "person.jpg")
    add("personThumbs", id, "p" .. id .. "t.jpg", "person_thumb.jpg")
  end
end

local function events(first, last)
  for id = first, last do
    add("events", id, "e" .. id .. ".jpg", "event.jpg")
    add("eventThumbs", id, "e" .. id .. "t.jpg", "event_thumb.jpg")
    add("eventLits", id, "e" .. id .. "l.pdf", "event.pdf")
  end
end

return {
  parts = {
    { name = "persons", count = size.users, chunk = 1000, make = persons },
    { name = "events", count = size.events, chunk = 1000, make = events },
  },
}
