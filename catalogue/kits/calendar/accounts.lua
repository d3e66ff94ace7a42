-- Which accounts a user acts for, their tickets, and the day from which the data set's dates are counted.

local ical = require "ical"
local population = require "population"

local accounts = {}

-- The day of the mail about a local and a remote database. Half of the data set's dates lie before it.
accounts.zero = ical.day(2006, 10, 11)

-- Each user has accounts of its own, which nobody else changes: its number, and on in steps of the number of users.
function accounts.pick(user)
  if user.number > size.users then
    error("user " .. user.number .. " has none of the " .. size.users .. " accounts: with a rate everybody who comes is "
      .. "new, and this kit's users remember; ask for --users")
  end
  local each = (size.users - user.number) // users + 1
  return user.number + users * random(0, each - 1)
end

-- splitmix64 (Steele, Lea and Flood 2014).
local function mixed(x)
  x = x + 0x9E3779B97F4A7C15
  x = (x ~ (x >> 30)) * 0xBF58476D1CE4E5B9
  x = (x ~ (x >> 27)) * 0x94D049BB133111EB
  return x ~ (x >> 31)
end

-- What lets whoever has it read the calendar of account n: 32 hexadecimal digits, as random ones would be.
function accounts.ticket(n) return string.format("%016x%016x", mixed(n), mixed(~n)) end

-- The address of account n's calendar below /dav/.
function accounts.calendar(n) return "/dav/calendars/" .. population.name(n) .. "/calendar/" end

return accounts
