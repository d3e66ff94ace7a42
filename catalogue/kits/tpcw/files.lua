-- The shop's pictures, below the address at which they are served: a thumbnail and a full picture of each item, and
-- those of the pages. They are the same few files over and over, as links, which cost no room.

local FOLDER = "tpcw/Images/"

local OF_PAGES = {
  "tpclogo", "whats_new", "best_sellers", "home", "search", "shopping_cart", "order_status", "add", "update",
  "checkout", "refresh", "submit", "display_last_order",
}

-- How large full pictures are: the share in percent, in kB.
local SHARES = { { 45, 5 }, { 35, 10 }, { 15, 50 }, { 4, 100 }, { 1, 250 } }

local function full_picture()
  local place = random(1, 100)
  for _, share in ipairs(SHARES) do
    if place <= share[1] then return "media/image_" .. share[2] .. "k.gif" end
    place = place - share[1]
  end
end

local function of_items(first, last)
  for id = first, last do
    local folder = FOLDER .. "img" .. id % 100
    file(folder .. "/thumb_" .. id .. ".gif", { copy = "media/thumb.gif" })
    file(folder .. "/image_" .. id .. ".gif", { copy = full_picture() })
  end
end

local function of_pages(first, last)
  for number = first, last do
    local name = OF_PAGES[number] .. ".gif"
    file(FOLDER .. name, { copy = "media/" .. name })
  end
end

return {
  parts = {
    { name = "pages", count = #OF_PAGES, chunk = #OF_PAGES, make = of_pages },
    { name = "items", count = size.items, chunk = 1000, make = of_items },
  },
}
