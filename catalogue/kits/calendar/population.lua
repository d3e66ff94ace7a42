-- Whose calendars there are and what is in them: functions of a number, so that sessions know them without asking. The
-- kit `caldav` borrows this file; both have the parameters that it reads.

local population = {}

-- The name of account n; its password is the same.
function population.name(n) return string.format("user%05d", n) end

-- The k-th object of account n's calendar.
function population.uid(n, k) return string.format("%08x-0000-4000-8000-%012x", n, k) end

-- The value below which a standard normal variable lies with this probability, within 0.0005 (Abramowitz and Stegun
-- 26.2.23).
local function normal_quantile(probability)
  local t = math.sqrt(-2 * math.log(math.min(probability, 1 - probability)))
  local above = 2.515517 + t * (0.802853 + t * 0.010328)
  local below = 1 + t * (1.432788 + t * (0.189269 + t * 0.001308))
  local z = t - above / below
  return probability < 0.5 and -z or z
end

-- Log-normal with a mean of twice the median, before the cut.
local SIGMA <const> = math.sqrt(2 * math.log(2))

-- How many objects account n has. Multiples of the golden ratio lie evenly, so that any accounts in a row have the
-- distribution, and not only all of them.
function population.objects(n)
  local probability = math.max(n * 0.6180339887498949 % 1, 1e-9)
  local drawn = param.events_median * math.exp(SIGMA * normal_quantile(probability))
  return math.min(math.max(math.floor(drawn + 0.5), 1), param.events_most)
end

return population
