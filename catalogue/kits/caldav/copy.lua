-- A client's copy of a calendar: which objects there are, by path, and their tags, kept so that one can be drawn.

local copy = {}

function copy.new() return { etags = {}, paths = {}, places = {} } end

function copy.size(of) return #of.paths end

function copy.put(of, path, etag)
  if not of.etags[path] then
    of.paths[#of.paths + 1] = path
    of.places[path] = #of.paths
  end
  of.etags[path] = etag
end

-- The last path takes the place of the one that goes.
function copy.remove(of, path)
  local place = of.places[path]
  if not place then return end
  local last = table.remove(of.paths)
  if last ~= path then
    of.paths[place], of.places[last] = last, place
  end
  of.etags[path], of.places[path] = nil, nil
end

function copy.any(of) return of.paths[random(1, #of.paths)] end

return copy
