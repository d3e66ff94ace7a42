-- The rows of the events calendar. Everything is uniform unless a comment says otherwise; days count from day zero.

local calendar = require "calendar"
local names = require "names"
local words = require "words"
local zones = require "zones"

local function any_user() return random(1, size.users) end

-- Person k has account number k, address k and, as its password, the number k: `finish.sql.j2` makes the hash.
local function persons(first, last)
  for id = first, last do
    local street, second, city, state, zip, country = words.address()
    local latitude, longitude = (2 * random() - 1) * 66.560556, (2 * random() - 1) * 180
    emit("ADDRESS", id, street, second, city, state, zip, country, string.format("%.10f", latitude),
      string.format("%.10f", longitude))

    local first_name, last_name = words.name(2, 12), words.name(5, 15)
    local email = string.format("%s_%s@%s.com", first_name, last_name, letters(random(3, 10))):lower()
    local name = names.of(id)
    emit("PERSON", id, name, "", first_name, last_name, email, words.telephone(), "p" .. id .. ".jpg",
      "p" .. id .. "t.jpg", words.text(250, 2500), "PST", any_user())

    -- Every second one has accepted.
    local friends = words.different(random(2, 28), function()
      local other
      repeat other = any_user() until other ~= id
      return other
    end)
    for position, friend in ipairs(friends) do
      emit("PERSON_PERSON", name, names.of(friend), (position - 1) % 2)
    end
  end
end

local function comments(event)
  for number = 1, random(0, 20) do
    local made = calendar.text(-random(0, 540)) .. " 00:00:00"
    emit("COMMENTS_RATING", 20 * (event - 1) + number, names.of(any_user()), event, words.letters(10, 1000),
      random(2, 5), made, made)
  end
end

local function events(first, last)
  for id = first, last do
    local day = calendar.text(random(0, 540))
    local hour, minute = random(7, 21), 15 * random(0, 3)
    local created = calendar.text(-random(0, 540)) .. " 00:00:00"
    emit("SOCIALEVENT", id, words.text(15, 20), words.text(50, 495), names.of(any_user()), any_user(), 0, 0,
      "e" .. id .. ".jpg", "e" .. id .. "t.jpg", "e" .. id .. "l.pdf", words.telephone(), pick(zones),
      string.format("%s %02d:%02d:00", day, hour, minute), created, 0, day, words.text(50, 90))
    for _, tag in ipairs(words.different(random(1, 7), function() return words.tag(size.tags) end)) do
      emit("SOCIALEVENTTAG_SOCIALEVENT", tag, id)
    end
    for _, user in ipairs(words.different(random(10, 100), any_user)) do
      emit("PERSON_SOCIALEVENT", names.of(user), id)
    end
    comments(id)
  end
end

-- How often a tag is used follows from the links, when they are there.
local function tags(first, last)
  for id = first, last do emit("SOCIALEVENTTAG", id, names.of(id), 0) end
end

return {
  tables = {
    ADDRESS = { "addressid", "street1", "street2", "city", "state", "zip", "country", "latitude", "longitude" },
    PERSON = {
      "userid", "username", "password", "firstname", "lastname", "email", "telephone", "imageurl", "imagethumburl",
      "summary", "timezone", "ADDRESS_addressid",
    },
    PERSON_PERSON = { "Person_username", "friends_username", "is_accepted" },
    PERSON_SOCIALEVENT = { "username", "socialeventid" },
    SOCIALEVENT = {
      "socialeventid", "title", "description", "submitterUserName", "ADDRESS_addressid", "totalscore",
      "numberofvotes", "imageurl", "imagethumburl", "literatureurl", "telephone", "timezone", "eventtimestamp",
      "createdtimestamp", "disabled", "eventdate", "summary",
    },
    SOCIALEVENTTAG = { "socialeventtagid", "tag", "refcount" },
    SOCIALEVENTTAG_SOCIALEVENT = { "socialeventtagid", "socialeventid" },
    COMMENTS_RATING = {
      "commentid", "username", "socialeventid", "comments", "ratings", "created_at", "updated_at",
    },
  },
  parts = {
    { name = "tags", count = size.tags, chunk = 1000, rows = { SOCIALEVENTTAG = 1 }, make = tags },
    {
      name = "persons",
      count = size.users,
      chunk = 500,
      rows = { ADDRESS = 1, PERSON = 1, PERSON_PERSON = 15 },
      make = persons,
    },
    {
      name = "events",
      count = size.events,
      chunk = 100,
      rows = { SOCIALEVENT = 1, SOCIALEVENTTAG_SOCIALEVENT = 4, PERSON_SOCIALEVENT = 55, COMMENTS_RATING = 10 },
      make = events,
    },
  },
}
