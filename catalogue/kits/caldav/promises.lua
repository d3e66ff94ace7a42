-- What a server has confirmed, as users note it for the check after the run and as the check reads it. With an object's
-- tag goes the sync-token that the user held when it changed the object: where that is still the last one, whoever
-- presents it must be told of the change.

local promises = {}

local GONE <const> = "gone"
-- Neither tags, nor tokens, nor names have it.
local BETWEEN <const> = "\n"

-- Nobody knows what becomes of an object: something was asked for, and is not answered.
function promises.none(path) told(path) end

-- An object has this tag; false for one that is gone.
function promises.object(user, path, etag)
  -- What came and went since the token need not be told to whoever presents it.
  if not etag and not user.copy.etags[path] then return told(path, false) end
  told(path, (etag or GONE) .. BETWEEN .. (user.token or ""))
end

-- Whose calendar it is, and the last token that was given for it.
function promises.calendar(user) told(user.place, user.name .. BETWEEN .. (user.token or "")) end

local function parts(state) return state:match("^(.-)" .. BETWEEN .. "(.*)$") end

-- What was told, by calendars: each with its place, its user, its last token (empty for none) and its objects by path,
-- which have a tag, or false for what is gone, and the token that was held then.
function promises.by_calendar(all)
  local calendars = {}
  for key, state in pairs(all) do
    local place, name = key:match("^(.*/)([^/]*)$")
    local calendar = calendars[place] or { place = place, objects = {} }
    calendars[place] = calendar
    if name == "" then
      calendar.user, calendar.token = parts(state)
    elseif state then
      local tag, token = parts(state)
      calendar.objects[key] = { tag = tag ~= GONE and tag, token = token }
    else
      calendar.objects[key] = { tag = false }
    end
  end
  return calendars
end

return promises
