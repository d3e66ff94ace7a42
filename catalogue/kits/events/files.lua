-- The file store: a picture and a thumbnail of each person and event, and a leaflet of each event. They are the same
-- master files over and over, as in the original's loader; here as links, which cost no room.

local function place(folder, id, name)
  return string.format("%s/%03d/%03d/%s", folder, id % 1000, id // 1000000 % 1000, name)
end

for id = 1, size.users do
  file(place("persons", id, "p" .. id .. ".jpg"), { copy = "media/person.jpg" })
  file(place("personThumbs", id, "p" .. id .. "t.jpg"), { copy = "media/person_thumb.jpg" })
end
for id = 1, size.events do
  file(place("events", id, "e" .. id .. ".jpg"), { copy = "media/event.jpg" })
  file(place("eventThumbs", id, "e" .. id .. "t.jpg"), { copy = "media/event_thumb.jpg" })
  file(place("eventLits", id, "e" .. id .. "l.pdf"), { copy = "media/event.pdf" })
end
