-- A client: one connection, some files one after another, each asked for as soon as the last one is there.

local set = require "set"

local order, dirs = set.order, size.dirs
local verify, conditional, cgi = param.verify, param.conditional, param.cgi

-- Class, directory and file are drawn independently: 35 %, 50 %, 14 % and 1 % for the classes, directories and the
-- files of a class by Zipf's law.
local below_1 = set.class_share[0]
local below_2 = below_1 + set.class_share[1]
local below_3 = below_2 + set.class_share[2]

-- A path is made when it is first asked for: then a request makes no text.
local paths = {}
local bytes = {}
for class = 0, 3 do
  for file = 0, 8 do
    bytes[9 * class + file] = set.bytes(class, file)
  end
end

local counted = { discard = true, name = "file" }
local kept = { name = "file" }
-- Every file of a set is of this moment.
local since = { expect = 304, discard = true, name = "file", headers = { ["If-Modified-Since"] = "Sat, 01 Jan 2000 00:00:00 GMT" } }

local program = { expect = 200, discard = true, name = "cgi" }

-- A program is started for the answer, which is another each time.
local function run()
  operation "cgi"
  local page = get("/cgi/stub", nil, program)
  count "requests"
  count("bytes", page.bytes)
  check(page.bytes > 0, "the program's answer")
end

local function fetch()
  if cgi > 0 and chance(cgi) then return run() end
  local draw = random()
  local class
  if draw < below_1 then
    class = 0
    operation "class0"
  elseif draw < below_2 then
    class = 1
    operation "class1"
  elseif draw < below_3 then
    class = 2
    operation "class2"
  else
    class = 3
    operation "class3"
  end
  local file = 9 * class + order[zipf(9, 1)]
  local number = 36 * (zipf(dirs, 1) - 1) + file
  local path = paths[number]
  if not path then
    path = set.path(number // 36, class, file % 9)
    paths[number] = path
  end

  if conditional > 0 and chance(conditional) then
    get(path, nil, since)
    count "requests"
    count "not_modified"
    return
  end
  local length = bytes[file]
  if chance(verify) then
    local page = get(path, nil, kept)
    count "requests"
    count("bytes", #page)
    check(#page == length, "the file's length")
    check(page:match("^[^\n]*") == length .. " " .. path, "the file's first line")
    count "verified"
  else
    local page = get(path, nil, counted)
    count "requests"
    count("bytes", page.bytes)
    check(page.bytes == length, "the file's length")
  end
end

function five(user)
  for _ = 1, 5 do fetch() end
end

function one(user)
  fetch()
end

function five_to_fifteen(user)
  for _ = 1, random(5, 15) do fetch() end
end
