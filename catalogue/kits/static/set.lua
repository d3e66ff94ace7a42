-- What the file set and the sessions share: paths, lengths, and how popular each file is.

local set = {}

-- Files of a class by rank: the first is asked for most, the k-th 1/k as often.
set.order = { 4, 3, 5, 2, 6, 1, 7, 8, 0 }

-- Shares of the requests.
set.class_share = { [0] = 0.35, 0.50, 0.14, 0.01 }
set.file_share = {}

local harmonic = 0
for rank = 1, 9 do harmonic = harmonic + 1 / rank end
for rank = 1, 9 do set.file_share[set.order[rank]] = 1 / rank / harmonic end

-- 102.4, 1024, 10240 and 102400 bytes times 1 to 9, whole bytes.
function set.bytes(class, file)
  return 1024 * 10 ^ class * (file + 1) // 10 | 0
end

function set.path(dir, class, file)
  return string.format("/file_set/dir%05d/class%d_%d", dir, class, file)
end

return set
