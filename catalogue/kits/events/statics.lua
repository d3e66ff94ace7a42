-- The files that go with each kind of page, as a browser asks for them: scripts, style sheets, and the small images that
-- the style sheets name.

local always = {
  "/css/frame.css", "/css/site.css", "/js/base.js", "/js/effects.js", "/js/dragdrop.js", "/js/controls.js",
  "/images/background.png", "/images/feed.png", "/images/header.png", "/images/nav.png", "/images/nav_hover.png",
  "/images/corner_tl.gif", "/images/corner_tr.gif", "/images/corner_bl.gif", "/images/corner_br.gif",
  "/images/tile.png", "/images/right.png", "/images/left.png",
}

local function and_also(more)
  local list = table.move(always, 1, #always, 1, {})
  return table.move(more, 1, #more, #list + 1, list)
end

return {
  page = always,
  event = and_also { "/js/starrating.js", "/images/star_on.png", "/images/star_off.png" },
  form = and_also { "/js/validateform.js" },
}
