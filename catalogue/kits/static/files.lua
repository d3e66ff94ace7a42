-- The file set: directories of 36 files, four classes of nine. The most popular file comes first, so that a page cache
-- that was filled from the end of this list keeps what is asked for most.

local set = require "set"

local list = {}
for dir = 0, size.dirs - 1 do
  for class = 0, 3 do
    for file = 0, 8 do
      local popularity = set.class_share[class] * set.file_share[file] / (dir + 1)
      list[#list + 1] = { path = set.path(dir, class, file):sub(2), bytes = set.bytes(class, file), popularity = popularity }
    end
  end
end

table.sort(list, function(a, b)
  if a.popularity ~= b.popularity then return a.popularity > b.popularity end
  return a.path < b.path
end)

local function make(first, last)
  for n = first, last do file(list[n].path, { bytes = list[n].bytes }) end
end

return { parts = { { name = "files", count = #list, chunk = 1000, make = make } } }
